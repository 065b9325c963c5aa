import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const style = new URL('src/page/page.css', import.meta.url);

// Builds one script without imports, because the report is a single HTML file and cannot load a second script.
export default defineConfig({
  plugins: [
    {
      name: 'style-of-the-page',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'page.css', source: readFileSync(style, 'utf8') });
      },
    },
  ],
  build: {
    outDir: 'dist/bundle',
    target: 'es2023',
    lib: { entry: 'src/page/main.ts', formats: ['iife'], name: 'report', fileName: () => 'page.js' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
