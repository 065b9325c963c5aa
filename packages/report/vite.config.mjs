import { defineConfig } from 'vite';

// One script without imports: a page of one file has no second one to load.
export default defineConfig({
  build: {
    outDir: 'dist/bundle',
    target: 'es2023',
    lib: { entry: 'src/page/main.ts', formats: ['iife'], name: 'report', fileName: () => 'page.js' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
