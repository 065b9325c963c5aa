// Writes what is generated from the contracts: OpenAPI, JSON Schemas, reference pages. Run through `make gen`, after
// `tsc -b contracts`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { committedFiles, openApiText, routesByService } from '../dist/openapi/index.js';
import { changesOfApi } from './changes-of-api.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

for (const [path, text] of Object.entries(committedFiles(sha256))) writeChanged(path, text);
for (const { name } of routesByService) {
  const text = openApiText(name);
  const before = writeChanged(`contracts/openapi/${name}.json`, text);
  if (before === undefined) continue;
  for (const change of changesOfApi(JSON.parse(before), JSON.parse(text))) process.stdout.write(`  ${change}\n`);
}

/** Writes a changed file. Returns its previous text, or `undefined` when the file is new or unchanged. */
function writeChanged(path, text) {
  const file = join(root, path);
  const before = current(file);
  if (before === text) return undefined;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`generated ${path}\n`);
  return before;
}

function current(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
