import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './imports.mjs';
import { testFlags } from './node-flags-of.mjs';
import { readResults } from './results.mjs';

/**
 * @typedef {{ env: NodeJS.ProcessEnv, scratch: string, prefix?: string[] }} Place `prefix` is a command that runs the command behind it
 */

/** @returns {Promise<import('./results.mjs').Results>} */
export function runFiles(files, { seed }, { env, scratch, prefix }) {
  const list = join(scratch, 'files.json');
  writeFileSync(list, JSON.stringify(files.map((file) => join(root, file))));
  const filtered = { ...env, COUNTERSIGN_TEST_FILES: list };
  return runJest(['--filter=<rootDir>/tests/runner/chosen-files.cjs'], { seed }, { env: filtered, scratch, prefix });
}

/** @returns {Promise<import('./results.mjs').Results>} */
export async function runJest(args, { seed }, { env, scratch, prefix }) {
  const summary = join(scratch, 'summary.json');
  rmSync(summary, { force: true });
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const reporters = ['--reporters=default', '--reporters=<rootDir>/tests/runner/summary-reporter.mjs'];
  // The reporters come last, since Jest reads a path after them as one more reporter.
  const command = [process.execPath, ...testFlags(), jest, `--seed=${seed}`, ...args, ...reporters];
  const code = await run([...(prefix ?? []), ...command], { ...env, COUNTERSIGN_TEST_SUMMARY: summary });
  return readResults(summary, code);
}

/** Runs a command in the terminal of this process. Resolves with its exit code. */
export function run([program, ...args], env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const forward = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
    child.once('exit', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
      resolve(code ?? 1);
    });
  });
}
