import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImportGraph } from './import-graph.ts';
import { graphOf } from './import-graph.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders that are packages, services or profiles: they have a package.json of ours and a `src`. */
export function units(): string[] {
  const parents = ['packages', 'services', 'infra'].filter((parent) => existsSync(join(root, parent)));
  const children = parents.flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`));
  return ['contracts', ...children].filter((unit) => existsSync(join(root, unit, 'package.json')));
}

/** The real import graph of every source file that people write. */
export function readGraph(): ImportGraph {
  const paths = units().flatMap((unit) => listSources(`${unit}/src`));
  return graphOf(Object.fromEntries(paths.map((path) => [path, readText(path)])));
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What is written in TypeScript below a folder. */
export function listSources(folder: string): string[] {
  return [...listFiles(folder, '.ts'), ...listFiles(folder, '.tsx')];
}

const notOurs = new Set(['node_modules', 'dist', 'generated']);

/** Files below a folder, by path from the root; generated and installed ones left out. */
export function listFiles(folder: string, ending: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name) || entry.name.startsWith('.')) return [];
    const path = relative(root, join(absolute, entry.name)).split(sep).join('/');
    if (entry.isDirectory()) return listFiles(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}
