import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

type Icon = { file: string; sizes: string; type: string; purpose: 'any' | 'maskable' };

const icons: readonly Icon[] = [
  { file: 'icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
  { file: 'icon-192.png', sizes: '192x192', type: 'image/png', purpose: 'any' },
  { file: 'icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'any' },
  { file: 'icon-maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
];

/** The manifest of the installed console (W3C Web Application Manifest). File names contain a hash of the content. */
function manifestOf(addressOf: (file: string) => string): object {
  return {
    ...{ id: '/console/', name: 'Countersign', short_name: 'Countersign', lang: 'en' },
    description: 'Approve, stop and check what your agents do.',
    ...{ start_url: '/console/overview', scope: '/console/', display: 'standalone' },
    ...{ theme_color: '#f7f8fa', background_color: '#f7f8fa' },
    icons: icons.map(({ file, ...facts }) => ({ src: addressOf(file), ...facts })),
    shortcuts: [
      { name: 'Inbox', url: '/console/inbox' },
      { name: 'Stops and incidents', url: '/console/incidents' },
    ],
  };
}

/** Writes the manifest and its icons beside the scripts of the console, and links them from the document. */
export function webManifest(): Plugin {
  return {
    name: 'web-manifest',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        if (bundle === undefined) return html;
        const hrefOf = (name: string) =>
          `/console/${Object.values(bundle).find((file) => file.type === 'asset' && file.names.includes(name))?.fileName ?? ''}`;
        const links = [
          { rel: 'icon', type: 'image/svg+xml', href: hrefOf('icon.svg') },
          { rel: 'apple-touch-icon', href: hrefOf('icon-maskable-512.png') },
          { rel: 'manifest', href: hrefOf('console.webmanifest') },
        ];
        return { html, tags: links.map((attrs) => ({ tag: 'link', attrs, injectTo: 'head' as const })) };
      },
    },
    // Runs before the document is generated, because the document contains the file names.
    renderStart() {
      const emitted = new Map(
        icons.map(({ file: name }) => {
          const source = readFileSync(new URL(`../icons/${name}`, import.meta.url));
          return [name, this.emitFile({ type: 'asset', name, source })];
        }),
      );
      const addressOf = (name: string) => `/console/${this.getFileName(emitted.get(name) ?? '')}`;
      const source = JSON.stringify(manifestOf(addressOf));
      this.emitFile({ type: 'asset', name: 'console.webmanifest', source });
    },
  };
}
