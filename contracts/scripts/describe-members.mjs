// Writes the comments of the contracts as a table of descriptions for OpenAPI. Run through `make gen`, before
// `tsc -b contracts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descriptionsOf } from './member-descriptions.mjs';
import { commonMembers } from './members/index.mjs';

const source = fileURLToPath(new URL('../src', import.meta.url));
const file = fileURLToPath(new URL('../src/generated/member-descriptions.ts', import.meta.url));
const isGeneral = ([path, text]) => commonMembers[path.slice(path.lastIndexOf('.') + 1)] === text;
const special = Object.entries(descriptionsOf(source)).filter((entry) => !isGeneral(entry));
const tables = { memberDescriptions: Object.fromEntries(special), commonMembers };
const lines = Object.entries(tables).map(
  ([name, table]) => `export const ${name}: Record<string, string> = ${JSON.stringify(table, null, 2)};\n`,
);

mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, lines.join(''));
