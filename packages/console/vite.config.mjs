import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { themeStyles } from './scripts/theme-styles.ts';

export default defineConfig({
  base: '/console/',
  plugins: [react(), themeStyles()],
  build: {
    outDir: 'dist/site',
    target: 'es2023',
    // A style or font in a data: URL is one that the policy of contents would refuse.
    assetsInlineLimit: 0,
    // It would be written by an inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The limits of sizes are in tests/e2e/console-size.test.ts.
    chunkSizeWarningLimit: 1_000,
  },
  worker: { format: 'es' },
});
