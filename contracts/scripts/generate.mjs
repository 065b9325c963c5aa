// Writes what is generated from the contracts: OpenAPI, JSON Schemas, reference pages. Run through `make gen`, after `tsc -b contracts`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from '../dist/openapi/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const [path, text] of Object.entries(generatedFiles())) {
  const file = join(root, path);
  if (current(file) === text) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`generated ${path}\n`);
}

function current(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
