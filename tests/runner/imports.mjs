// The files that a file imports at run time, found in its text. This suffices to choose tests, without a compiler.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const sourceRoots = ['contracts', 'packages', 'services', 'infra', 'tests'];
const neverSource = new Set(['node_modules', 'dist', 'generated']);
const importPattern = /^(?:import|export)(?! type\b)[^;'"]*?from\s*'([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm;
const profiles = new Set(['deploy', 'local', 'services']);
/** The folders of services. The register in infra/services has the same names, but can be read only after a build. */
export const services = new Set(
  readdirSync(join(root, 'services'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  ),
);

/** Every test file, by its path from the root. */
export function testFiles() {
  return sourceFiles().filter((path) => /\.test\.tsx?$/.test(path));
}

/** Every TypeScript file, by its path from the root. */
export function sourceFiles() {
  const found = [];
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !neverSource.has(entry.name)) visit(path);
      else if (/\.tsx?$/.test(entry.name) && !entry.isSymbolicLink()) found.push(path);
    }
  };
  for (const folder of sourceRoots) visit(folder);
  return found.sort();
}

const cache = new Map();

/** The imports of `path` as `{ specifier, to }`. `to` is a file of the repository, or `null`. */
export function importsOf(path) {
  const kept = cache.get(path);
  if (kept !== undefined) return kept;
  const text = readFileSync(join(root, path), 'utf8');
  const imports = [...text.matchAll(importPattern)].map(([, from, dynamic, bare]) => {
    const specifier = from ?? dynamic ?? bare;
    return { specifier, to: fileOf(path, specifier) };
  });
  cache.set(path, imports);
  return imports;
}

function fileOf(from, specifier) {
  if (specifier.startsWith('.')) return existing(relative(root, resolve(root, dirname(from), specifier)));
  const [scope, name = '', ...rest] = specifier.split('/');
  if (scope !== '@countersign') return null;
  return existing(`${folderOf(name)}/src/${rest.length === 0 ? 'index' : rest.join('/')}.ts`);
}

function folderOf(name) {
  if (name === 'contracts') return 'contracts';
  if (profiles.has(name)) return `infra/${name}`;
  return services.has(name) ? `services/${name}` : `packages/${name}`;
}

function existing(path) {
  const candidates = [path, path.replace(/\.ts$/, '/index.ts')];
  return candidates.find((candidate) => existsSync(join(root, candidate)) && isFile(candidate)) ?? null;
}

const isFile = (path) => statSync(join(root, path)).isFile();
