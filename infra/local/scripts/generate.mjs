// Writes the reference page of all variables from the schemas that the services validate them with. Run through `make
// gen`, after `tsc -b infra/local`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configurationPage } from '../dist/index.js';

const path = 'docs/reference/configuration.md';
const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const page = configurationPage();
if (!isCurrent()) {
  writeFileSync(file, page);
  process.stdout.write(`generated ${path}\n`);
}

function isCurrent() {
  try {
    return readFileSync(file, 'utf8') === page;
  } catch {
    return false;
  }
}
