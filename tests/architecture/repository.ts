import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImportGraph, SourceFile } from './import-graph.ts';
import { graphOfFiles, parse } from './import-graph.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders that are packages, services or profiles. Each has its own package.json and a `src`. */
export function units(): string[] {
  const parents = ['packages', 'services', 'infra'].filter((parent) => existsSync(join(root, parent)));
  const children = parents.flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`));
  return ['contracts', ...children].filter((unit) => existsSync(join(root, unit, 'package.json')));
}

/** The import graph of every unit's `src`, without tests and scripts. */
export function readGraph(): ImportGraph {
  return graphOfFiles(units().flatMap((unit) => listSources(`${unit}/src`).map(readSyntax)));
}

/** The import graph of every written file, including tests and scripts. */
export function readWholeGraph(): ImportGraph {
  return graphOfFiles(
    written().flatMap((folder) => [...listSources(folder), ...listFiles(folder, '.mjs')].map(readSyntax)),
  );
}

export function written(): string[] {
  return ['contracts', 'packages', 'services', 'infra', 'tests'];
}

/**
 * Each worker parses a file once. Jest loads a module again for each test file, so the cache is on the global object.
 */
const kept = globalThis as unknown as { architectureSources?: Map<string, SourceFile> }; // only this file uses the member
const parsed = (kept.architectureSources ??= new Map<string, SourceFile>());

export function readSyntax(path: string): SourceFile {
  const existing = parsed.get(path) ?? { path, syntax: parse(path, readText(path)) };
  parsed.set(path, existing);
  return existing;
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The TypeScript files below a folder. */
export function listSources(folder: string): string[] {
  return [...listFiles(folder, '.ts'), ...listFiles(folder, '.tsx')];
}

const notOurs = new Set(['node_modules', 'dist', 'generated']);

/** Files below a folder, by path from the root. Generated and installed files are left out. */
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
