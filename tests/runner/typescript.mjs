// Lets Node run the sources, those of workspace packages too: node --import <this file> <file.ts>
// Types become blanks, so each line and column stays where it is.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const jestGlobals = new URL('jest-globals.mjs', import.meta.url).href;
// A mutant in what runs while a module is loaded is seen by loading it again.
const loadedAnew = process.env.COUNTERSIGN_MUTANTS === '1' ? /\.ts$/ : /\/tests\/.*\.ts$/;

/** What lies beside tests is loaded anew for each test file, by the query of who asks; all else is loaded once. */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: jestGlobals, shortCircuit: true };
  const resolved = await next(specifier, { ...context, conditions: ['countersign', ...context.conditions] });
  if (context.parentURL === undefined || !loadedAnew.test(resolved.url)) return resolved;
  return { ...resolved, url: `${resolved.url}${new URL(context.parentURL).search}` };
}

export async function load(url, context, next) {
  const { pathname } = new URL(url);
  if (!pathname.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: await withoutTypes(pathname), shortCircuit: true };
}

const { version } = createRequire(import.meta.url)('ts-blank-space/package.json');
/** Results of earlier runs, by the hash of the source: each worker of each run would read and blank hundreds of files again. */
const cache = new URL(`../../node_modules/.cache/ts-blank-space-${version}/`, import.meta.url);
const loaded = new Map();

/** Once per path: helpers beside tests are loaded for each test file, and no source changes during a run. */
async function withoutTypes(path) {
  const known = loaded.get(path);
  if (known !== undefined) return known;
  const source = await readFile(path, 'utf8');
  const cached = new URL(createHash('sha256').update(source).digest('hex'), cache);
  const stripped = await readFile(cached, 'utf8').catch(() => stripAndKeep(source, cached));
  loaded.set(path, stripped);
  return stripped;
}

async function stripAndKeep(source, cached) {
  // Imported here because the compiler behind it takes longer to load than all cached files together.
  const { default: stripTypes } = await import('ts-blank-space');
  const stripped = stripTypes(source);
  mkdirSync(cache, { recursive: true });
  // Renamed, so that no other worker reads half a file.
  const unfinished = `${cached.pathname}.${process.pid}`;
  await writeFile(unfinished, stripped);
  await rename(unfinished, cached);
  return stripped;
}
