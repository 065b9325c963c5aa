import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { themeStyles } from './scripts/theme-styles.ts';
import { webManifest } from './scripts/web-manifest.ts';

export default defineConfig({
  base: '/console/',
  plugins: [react(), themeStyles(), webManifest()],
  build: {
    outDir: 'dist/site',
    target: 'es2023',
    // The Content Security Policy blocks styles and fonts in data: URLs.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, which the Content Security Policy blocks.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // tests/e2e/console-size.test.ts limits the sizes.
    chunkSizeWarningLimit: 1_000,
  },
  worker: { format: 'es' },
});
