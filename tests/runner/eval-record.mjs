// The result of each promise in a complete run, for `GET /api/capabilities` of the gateway. Only a clean checkout has a
// record. Run as a program, this file prints the place of the checkout's record as shell exports. `make up` passes
// them to the gateway.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = join(root, 'tests/eval-record.json');

/** The commit of a clean checkout, else `undefined`. */
export function cleanCommit() {
  try {
    return git('status', '--porcelain') === '' ? git('rev-parse', 'HEAD') : undefined;
  } catch {
    return undefined;
  }
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** `commit` is the checked out commit at the beginning of the run. */
export function writeEvalRecord(commit, promises) {
  if (commit === undefined || commit !== cleanCommit()) return;
  writeFileSync(file, `${JSON.stringify({ recordedAt: new Date().toISOString(), commit, promises }, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const commit = cleanCommit();
  if (commit !== undefined && existsSync(file) && process.env.GOV_EVAL_RECORD === undefined)
    process.stdout.write(`export GOV_EVAL_RECORD='${file}' GOV_BUILD_COMMIT=${commit}\n`);
}
