// Runs `*.soak.ts`: tests of size and time, which take minutes. The record of a complete run is written to
// tests/soak-record.json, to be committed.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanCommit } from './eval-record.mjs';
import { root } from './imports.mjs';
import { neededParts } from './needed-parts.mjs';
import { runJest } from './run-jest.mjs';

const log = (line) => process.stderr.write(`${line}\n`);
const paths = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'countersign-soak-'));
chmodSync(scratch, 0o711);
const deps = neededParts(scratch, log);
const commit = cleanCommit();
const seed = randomInt(2 ** 31 - 1);
log(`Seed ${seed}`);
const startedAt = performance.now();
const { passed, failed } = await runJest(
  ['--testMatch', '**/*.soak.ts', '--runInBand', '--verbose', ...paths],
  { seed },
  { env: await deps.of('system'), scratch },
).finally(async () => {
  await deps.close();
  rmSync(scratch, { recursive: true, force: true });
});
if (paths.length === 0 && commit !== undefined && failed === 0) {
  const record = {
    ranAt: new Date().toISOString(),
    commit,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    passed,
  };
  writeFileSync(join(root, 'tests/soak-record.json'), `${JSON.stringify(record, null, 2)}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
