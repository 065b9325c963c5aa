import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';

/** Bytes over the wire until the first page can be read, and for one page more. */
const firstLoadBytesMax = 230_000;
const routeBytesMax = 80_000;
/** Fonts do not block the first page, and a browser keeps them. */
const fontBytesMax = 90_000;

const built = createRequire(import.meta.url).resolve('@countersign/console/site/index.html');
const text = readFileSync(built, 'utf8');
const folder = join(dirname(built), 'assets');
const sizeOf = (name: string) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;

describe('the files of the console', () => {
  const first = [...text.matchAll(/\/console\/assets\/([^"]+)"/g)].map((match) => match[1] ?? '');

  verifies('ui.budget', 'first load and route sizes stay within what was promised', () => {
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

  it('hold no inline script and no inline style, which the policy of contents would refuse', () => {
    expect(text).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });
});
