// Brings PostgreSQL and RabbitMQ, runs every suite, and ends with the line `N passed, N failed`.
// Usage: node tests/runner/run-tests.mjs [jest arguments…] | --bench [options of the bench…]
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFlags, testFlags } from './node-flags-of.mjs';
import { cleanCommit, writeEvalRecord } from './eval-record.mjs';
import { findChromium } from './chromium.mjs';
import { findPostgres } from './postgres.mjs';
import { findRabbitmq } from './rabbitmq.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const log = (line) => process.stderr.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  // PostgreSQL runs under its own account when we are root, and must pass through.
  chmodSync(scratch, 0o711);
  const summaryFile = join(scratch, 'summary.json');
  const isBench = args[0] === '--bench';
  const commit = args.length === 0 ? cleanCommit() : undefined;
  let postgres;
  let exitCode = 1;
  try {
    const amqpUrl = await findRabbitmq(process.env, log);
    postgres = await findPostgres(process.env, scratch);
    const chromium = isBench ? {} : { CHROMIUM_PATH: findChromium(process.env, log) };
    const env = { ...process.env, TEST_DATABASE_URL: postgres.url, AMQP_URL: amqpUrl, ...chromium };
    exitCode = isBench
      ? await runBench(args.slice(1), env)
      : await runJest(args, { ...env, COUNTERSIGN_TEST_SUMMARY: summaryFile });
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
  } finally {
    await postgres?.stop();
  }
  if (!isBench) {
    const { promises = {} } = readSummary(summaryFile) ?? {};
    writeEvalRecord(commit, promises);
    exitCode = report(summaryFile, exitCode);
  }
  rmSync(scratch, { recursive: true, force: true });
  return exitCode;
}

function runJest(args, env) {
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const reporters = ['--reporters=default', '--reporters=<rootDir>/tests/runner/summary-reporter.mjs'];
  // The reporters come last: Jest takes a path behind them for one more reporter.
  return run([...testFlags(), jest, ...args, ...reporters], env);
}

function runBench(args, env) {
  return run([...nodeFlags(), join(root, 'tests/bench/dist/run.js'), ...args], env);
}

function run(args, env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const forward = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function report(summaryFile, exitCode) {
  // No summary: the runner itself broke off, which is a failure whatever it had passed by then.
  const { passed, failed, skipped } = readSummary(summaryFile) ?? { passed: 0, failed: 1, skipped: 0 };
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  process.stdout.write(`${passed} passed, ${failed} failed${skips}\n`);
  return failed > 0 ? 1 : exitCode;
}

function readSummary(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
