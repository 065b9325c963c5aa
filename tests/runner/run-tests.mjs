// Brings PostgreSQL, RabbitMQ and Chromium, runs the tests level by level, and ends with the line `N passed, N failed`.
// Usage: node tests/runner/run-tests.mjs [--level=NAME] [--changed] [--seed=N] [--rerun] [part of a path…]
//        node tests/runner/run-tests.mjs --jest [arguments of Jest…]
//        node tests/runner/run-tests.mjs --bench [options of the bench…]
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changedTests } from './changed-tests.mjs';
import { findChromium } from './chromium.mjs';
import { cleanCommit, writeEvalRecord } from './eval-record.mjs';
import { filesByLevel } from './levels.mjs';
import { nodeFlags, testFlags } from './node-flags-of.mjs';
import { parseOptions } from './options.mjs';
import { findPostgres } from './postgres.mjs';
import { findRabbitmq } from './rabbitmq.mjs';
import { merge, readResults, resultsOf, timesOf } from './results.mjs';
import { serveSharedParts } from './shared-parts.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** More files that fail once and then pass are no accident. */
const unstableMax = 2;
const log = (line) => process.stderr.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  // PostgreSQL runs under its own account when we are root, and must pass through.
  chmodSync(scratch, 0o711);
  const parts = neededParts(scratch);
  try {
    const options = parseOptions(args);
    if (options.bench !== undefined)
      return await run(
        [...nodeFlags(), join(root, 'tests/bench/dist/run.js'), ...options.bench],
        await parts.servers(),
      );
    return report(await runTests(options, { parts, scratch }));
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    process.stdout.write('0 passed, 1 failed\n');
    return 1;
  } finally {
    await parts.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What tests need beside Node, as variables of the environment. Each part is brought when the first level needs it. */
function neededParts(scratch) {
  const closers = [];
  let started;
  const startServers = async () => {
    const amqpUrl = await findRabbitmq(process.env, log);
    const postgres = await findPostgres(process.env, scratch);
    closers.push(() => postgres.stop());
    return { ...process.env, TEST_DATABASE_URL: postgres.url, AMQP_URL: amqpUrl };
  };
  const startAll = async () => {
    const servers = await startServers();
    const chromiumPath = findChromium(process.env, log);
    const shared = await serveSharedParts(scratch, chromiumPath);
    closers.push(() => shared.close());
    return { ...servers, CHROMIUM_PATH: chromiumPath, COUNTERSIGN_TEST_PARTS: shared.socket };
  };
  return {
    servers: startServers,
    of: (level) => (level === 'unit' ? process.env : (started ??= startAll())),
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}

async function runTests(options, { parts, scratch }) {
  if (options.jest !== undefined) return runJest(options.jest, options, { env: await parts.of(undefined), scratch });
  const commit = options.isWhole ? cleanCommit() : undefined;
  log(`Seed ${options.seed}`);
  let results = resultsOf([]);
  const skipped = [];
  for (const [level, files] of wantedFiles(options)) {
    if (results.failed > 0) {
      skipped.push(level);
      continue;
    }
    const place = { env: await parts.of(level), scratch };
    const startedAt = performance.now();
    let ofLevel = await runFiles(files, options, place);
    if (options.rerun && level === 'system') ofLevel = await rerunFailed(ofLevel, options, place);
    ofLevel.levels = { [level]: { seconds: (performance.now() - startedAt) / 1_000, files: files.length } };
    results = merge(results, ofLevel);
  }
  if (skipped.length > 0) log(`Not run, since a cheaper level failed: ${skipped.join(', ')}`);
  if (skipped.length === 0) writeEvalRecord(commit, results.promises);
  return results;
}

/** Level by level, from cheap to dear. */
function wantedFiles({ level, changed, paths }) {
  const affected = changed ? changedTests() : undefined;
  const isWanted = (file) =>
    (affected === undefined || affected.has(file)) && (paths.length === 0 || paths.some((path) => file.includes(path)));
  const byLevel = [...filesByLevel()].map(([name, files]) => [name, files.filter(isWanted)]);
  return byLevel.filter(([name, files]) => (level === undefined || level === name) && files.length > 0);
}

function runFiles(files, options, { env, scratch }) {
  const list = join(scratch, 'files.json');
  writeFileSync(list, JSON.stringify(files.map((file) => join(root, file))));
  const filtered = { ...env, COUNTERSIGN_TEST_FILES: list };
  return runJest(['--filter=<rootDir>/tests/runner/chosen-files.cjs'], options, { env: filtered, scratch });
}

async function runJest(args, { seed }, { env, scratch }) {
  const summary = join(scratch, 'summary.json');
  rmSync(summary, { force: true });
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const reporters = ['--reporters=default', '--reporters=<rootDir>/tests/runner/summary-reporter.mjs'];
  // The reporters come last: Jest takes a path behind them for one more reporter.
  const code = await run([...testFlags(), jest, `--seed=${seed}`, ...args, ...reporters], {
    ...env,
    COUNTERSIGN_TEST_SUMMARY: summary,
  });
  return readResults(summary, code);
}

/** Runs each failed file once more, alone. A file that passes then is reported as unstable, and is no failure up to `unstableMax`. */
async function rerunFailed(results, options, place) {
  const failed = results.files.filter(({ failures }) => failures.length > 0);
  if (failed.length === 0 || failed.length > unstableMax) return results;
  const kept = results.files.filter(({ failures }) => failures.length === 0);
  let merged = resultsOf(kept);
  for (const first of failed) {
    const again = await runFiles([first.file], options, place);
    merged = merge(merged, again);
    if (again.failed > 0) continue;
    for (const { title, message } of first.failures) log(`unstable: ${first.file}, ${title}\n${message}`);
  }
  return merged;
}

function run(args, env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const forward = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
    child.once('exit', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
      resolve(code ?? 1);
    });
  });
}

function report(results) {
  for (const line of timesOf(results)) log(line);
  const skips = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
  process.stdout.write(`${results.passed} passed, ${results.failed} failed${skips}\n`);
  return results.failed > 0 ? 1 : 0;
}
