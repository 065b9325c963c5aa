// Writes src/store/ledger-functions.sql from the controls. Run through `make gen`, after `tsc -b services/governance-kernel`.
import { readFileSync, writeFileSync } from 'node:fs';
import { controls } from '../dist/controls.js';
import { ledgerFunctions } from '../dist/store/ledger-functions.js';

const file = new URL('../src/store/ledger-functions.sql', import.meta.url);
const base = readFileSync(new URL('../src/store/ledger-functions.base.sql', import.meta.url), 'utf8');
const text = ledgerFunctions(controls, base);
if (!isCurrent()) {
  writeFileSync(file, text);
  process.stdout.write('generated services/governance-kernel/src/store/ledger-functions.sql\n');
}

function isCurrent() {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false;
  }
}
