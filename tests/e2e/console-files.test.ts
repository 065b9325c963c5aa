import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';

/** The limits of transferred bytes for the first page, and for each further page. */
const firstLoadBytesMax = 230_000;
const routeBytesMax = 80_000;
/** Fonts do not block the first page, and browsers cache them. */
const fontBytesMax = 90_000;

const built = createRequire(import.meta.url).resolve('@countersign/console/site/index.html');
const text = readFileSync(built, 'utf8');
const folder = join(dirname(built), 'assets');
const sizeOf = (name: string) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;

type Manifest = {
  start_url: string;
  scope: string;
  icons: { src: string; sizes: string; type: string; purpose: string }[];
};

describe('the files of the console', () => {
  /** Scripts and style sheets, which block the page. Its manifest and icons do not. */
  const first = [...text.matchAll(/\/console\/assets\/([^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? '');

  verifies('ui.budget', 'stay within the promised sizes, for the first page and for each further one', () => {
    expect(first.length).toBeGreaterThan(1);
    const firstLoad = first.map(sizeOf).reduce((sum, size) => sum + size, 0);
    expect(firstLoad).toBeLessThanOrEqual(firstLoadBytesMax);
    const others = readdirSync(folder).filter((name) => !first.includes(name));
    const isFont = (name: string) => name.endsWith('.woff2');
    const fontBytes = others.filter(isFont).map(sizeOf);
    expect(fontBytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(fontBytesMax);
    const routes = others.filter((name) => !isFont(name));
    expect(routes.map((name) => ({ name, size: sizeOf(name) })).filter(({ size }) => size > routeBytesMax)).toEqual([]);
  });

  it('make the console an app that a browser can install', () => {
    const hrefOf = (rel: string) =>
      new RegExp(`<link rel="${rel}"[^>]* href="/console/assets/([^"]+)"`).exec(text)?.[1];
    const manifest = JSON.parse(readFileSync(join(folder, hrefOf('manifest') ?? ''), 'utf8')) as Manifest;
    expect(manifest).toMatchObject({ name: 'Countersign', display: 'standalone', scope: '/console/' });
    expect(manifest.start_url.startsWith(manifest.scope)).toBe(true);
    const files = manifest.icons.map(({ src }) => src.replace('/console/assets/', ''));
    for (const name of [...files, hrefOf('icon') ?? '', hrefOf('apple-touch-icon') ?? ''])
      expect(readdirSync(folder)).toContain(name);
    // One icon of 512 pixels for the start screen, and one that a phone may crop.
    expect(manifest.icons.map(({ sizes, purpose }) => `${purpose} ${sizes}`)).toEqual(
      expect.arrayContaining(['any 192x192', 'any 512x512', 'maskable 512x512']),
    );
    for (const { src, sizes } of manifest.icons.filter(({ type }) => type === 'image/png')) {
      const bytes = readFileSync(join(folder, src.replace('/console/assets/', '')));
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
    }
  });

  it('contain no inline script or style, which the content security policy would block', () => {
    expect(text).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });
});
