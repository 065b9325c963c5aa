import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImportGraph, SourceFile } from './import-graph.ts';
import { graphOfFiles, parse } from './import-graph.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders that are packages, services or profiles: they have a package.json of ours and a `src`. */
export function units(): string[] {
  const parents = ['packages', 'services', 'infra'].filter((parent) => existsSync(join(root, parent)));
  const children = parents.flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`));
  return ['contracts', ...children].filter((unit) => existsSync(join(root, unit, 'package.json')));
}

/** The real import graph of every source file that people write. */
export function readGraph(): ImportGraph {
  return graphOfFiles(units().flatMap((unit) => listSources(`${unit}/src`).map(readSyntax)));
}

/** The same of everything that people write, tests and scripts included. */
export function readWholeGraph(): ImportGraph {
  return graphOfFiles(
    written().flatMap((folder) => [...listSources(folder), ...listFiles(folder, '.mjs')].map(readSyntax)),
  );
}

export function written(): string[] {
  return ['contracts', 'packages', 'services', 'infra', 'tests'];
}

/** Each worker parses a file once. A helper of tests is loaded for each test file, so what is kept hangs on the global object. */
const kept = globalThis as unknown as { architectureSources?: Map<string, SourceFile> }; // a member of our own
const parsed = (kept.architectureSources ??= new Map<string, SourceFile>());

export function readSyntax(path: string): SourceFile {
  const known = parsed.get(path) ?? { path, syntax: parse(path, readText(path)) };
  parsed.set(path, known);
  return known;
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The TypeScript files below a folder. */
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
