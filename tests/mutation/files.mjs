import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const sources = /\.tsx?$/;
const tests = /\.test\.tsx?$/;

export const isTest = (path) => tests.test(path);
export const sourcesBelow = (folder) => filesBelow(folder, sources);
export const testsBelow = (folder) => filesBelow(folder, tests);

/** Files below a folder, by path from the working directory, in a fixed order. */
function filesBelow(folder, name) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).split(sep).join('/'))
    .filter((path) => !path.includes('/node_modules/'))
    .sort();
}

/** One hash over the content of these files. */
export function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}
