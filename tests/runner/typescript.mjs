// Lets Node run TypeScript sources, including those of workspace packages: node --import <this file> <file.ts>. Types
// become blanks, so every line and column stays in place.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const jestGlobals = new URL('jest-globals.mjs', import.meta.url).href;
// With mutants, sources are loaded again for each file. Otherwise a mutant in code that runs at load time would have no
// effect.
const loadedAnew = process.env.COUNTERSIGN_MUTANTS === '1' ? /\.tsx?$/ : /\/tests\/.*\.tsx?$/;

/**
 * Files beside tests are loaded again for each test file, because their URL gets the query of their importer. All other
 * files are loaded once.
 */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: jestGlobals, shortCircuit: true };
  const resolved = await next(specifier, { ...context, conditions: ['countersign', ...context.conditions] });
  if (context.parentURL === undefined || !loadedAnew.test(resolved.url)) return resolved;
  return { ...resolved, url: `${resolved.url}${new URL(context.parentURL).search}` };
}

export async function load(url, context, next) {
  const { pathname } = new URL(url);
  const transform = transforms.find(({ ending }) => pathname.endsWith(ending));
  if (transform === undefined) return next(url, context);
  return { format: 'module', source: await transformed(pathname, transform), shortCircuit: true };
}

const require = createRequire(import.meta.url);
/**
 * The transforms from sources to JavaScript. The compilers are imported only for a source that is not cached, since
 * they load more slowly than all cached files together. Components are printed again, because JSX cannot become blanks.
 * A source map at the end keeps their lines.
 */
const transforms = [
  {
    ending: '.ts',
    by: 'ts-blank-space',
    apply: async (source) => (await import('ts-blank-space')).default(source),
  },
  {
    ending: '.tsx',
    by: 'typescript',
    apply: async (source, fileName) => {
      const { default: ts } = await import('typescript');
      const compilerOptions = {
        ...{ module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, jsx: ts.JsxEmit.ReactJSX },
        ...{ verbatimModuleSyntax: true, inlineSourceMap: true, inlineSources: true },
      };
      return ts.transpileModule(source, { fileName, compilerOptions }).outputText;
    },
  },
].map((transform) => ({ ...transform, cache: cacheOf(transform.by) }));

/**
 * The cache folder of a transform. Files are named by the hash of the source, so that no worker transforms a source
 * again.
 */
function cacheOf(by) {
  return new URL(`../../node_modules/.cache/${by}-${require(`${by}/package.json`).version}/`, import.meta.url);
}

const loaded = new Map();

/**
 * Transforms each path once. Helpers beside tests are loaded for each test file, and no source changes during a run.
 */
async function transformed(path, transform) {
  const existing = loaded.get(path);
  if (existing !== undefined) return existing;
  const source = await readFile(path, 'utf8');
  const cached = new URL(createHash('sha256').update(source).digest('hex'), transform.cache);
  const result = await readFile(cached, 'utf8').catch(() => transformAndKeep({ path, source }, { transform, cached }));
  loaded.set(path, result);
  return result;
}

async function transformAndKeep({ path, source }, { transform, cached }) {
  const result = await transform.apply(source, path);
  mkdirSync(transform.cache, { recursive: true });
  // The file is renamed at the end, so that no reader sees half of it. Two files with the same text may be written at
  // the same time, even in one process.
  const unfinished = `${cached.pathname}.${randomUUID()}`;
  await writeFile(unfinished, result);
  await rename(unfinished, cached);
  return result;
}
