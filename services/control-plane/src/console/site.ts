import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

type SiteFile = { type: string; bytes: Buffer; gzipped: Buffer };

/** The built console: one document, and the files that it loads, by name. */
export type Site = {
  readonly document: { readonly text: string; readonly etag: string };
  readonly files: ReadonlyMap<string, SiteFile>;
};

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/** Reads the output of `make build`. Throws when it is missing, or has a file of a kind that no page may load. */
export function readSite(path = builtDocument()): Site {
  const text = readFileSync(path, 'utf8');
  const folder = join(dirname(path), 'assets');
  const files = readdirSync(folder).map((name): [string, SiteFile] => {
    const type = types[extname(name)];
    if (type === undefined) throw new Error(`The console has a file of an unknown kind: ${name}`);
    const bytes = readFileSync(join(folder, name));
    return [name, { type, bytes, gzipped: gzipSync(bytes, { level: 9 }) }];
  });
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  return { document: { text, etag }, files: new Map(files) };
}

function builtDocument(): string {
  try {
    return createRequire(import.meta.url).resolve('@countersign/console/site/index.html');
  } catch (cause) {
    throw new Error('The console is not built: run make build', { cause });
  }
}
