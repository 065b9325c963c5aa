// Lets Node run the sources, those of workspace packages too: node --import <this file> <file.ts>
// Types become blanks, so each line and column stays where it is.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import stripTypes from 'ts-blank-space';

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
  if (!new URL(url).pathname.endsWith('.ts')) return next(url, context);
  const source = await readFile(new URL(url), 'utf8');
  return { format: 'module', source: stripTypes(source), shortCircuit: true };
}
