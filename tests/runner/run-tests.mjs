// Starts PostgreSQL, RabbitMQ and Chromium, runs the tests level by level, and ends with `N passed, N failed`.
// Usage: node tests/runner/run-tests.mjs [--level=NAME] [--changed] [--seed=N] [--rerun] [part of a path…]
//        node tests/runner/run-tests.mjs --jest [arguments of Jest…]
//        node tests/runner/run-tests.mjs --bench [options of the bench…]
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { overBudget, Pace } from './budgets.mjs';
import { cleanCommit, writeEvalRecord } from './eval-record.mjs';
import { root } from './imports.mjs';
import { neededParts } from './needed-parts.mjs';
import { nodeFlags } from './node-flags-of.mjs';
import { parseOptions } from './options.mjs';
import { merge, resultsOf, timesOf, withFailures } from './results.mjs';
import { run, runFiles, runJest } from './run-jest.mjs';
import { wantedFiles } from './wanted-files.mjs';

/** More failed files than this are not accepted as unstable. */
const unstableMax = 2;
const log = (line) => process.stderr.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  // PostgreSQL runs under its own account when we are root, and must be able to enter the folder.
  chmodSync(scratch, 0o711);
  const deps = neededParts(scratch, log);
  try {
    const options = parseOptions(args);
    if (options.bench !== undefined) {
      const bench = [process.execPath, ...nodeFlags(), join(root, 'tests/bench/dist/run.js'), ...options.bench];
      return await run(bench, await deps.bench());
    }
    return report(await runTests(options, { parts: deps, scratch }));
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    process.stdout.write('0 passed, 1 failed\n');
    return 1;
  } finally {
    await deps.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runTests(options, { parts, scratch }) {
  log(`Seed ${options.seed}`);
  if (options.jest !== undefined) return runJest(options.jest, options, { env: await parts.of(undefined), scratch });
  const commit = options.isWhole ? cleanCommit() : undefined;
  const pace = new Pace();
  let results = resultsOf([]);
  const skipped = [];
  for (const [level, files] of wantedFiles(options)) {
    if (results.failed > 0) {
      skipped.push(level);
      continue;
    }
    const place = { env: await parts.of(level), scratch };
    await pace.look();
    const startedAt = performance.now();
    let ofLevel = await runFiles(files, options, place);
    if (options.rerun) ofLevel = await rerunFailed(ofLevel, options, place);
    ofLevel.levels = { [level]: { seconds: (performance.now() - startedAt) / 1_000, files: files.length } };
    results = merge(results, ofLevel);
  }
  if (skipped.length > 0) log(`Not run, since a cheaper level failed: ${skipped.join(', ')}`);
  else writeEvalRecord(commit, results.promises);
  await pace.look();
  const over = overBudget(results.files, pace);
  for (const { message } of over) log(`Over budget: ${message}`);
  // CI uses `--rerun`. The speed of its machine is unknown, so budgets fail no file there.
  return options.rerun ? results : withFailures(results, over);
}

/**
 * If at most `unstableMax` files failed, runs each of them once more, alone. A file that then passes is reported as
 * unstable, and does not fail the run.
 */
async function rerunFailed(results, options, place) {
  const failed = results.files.filter(({ failures }) => failures.length > 0);
  if (failed.length === 0 || failed.length > unstableMax) return results;
  let merged = resultsOf(results.files.filter(({ failures }) => failures.length === 0));
  for (const first of failed) {
    const again = await runFiles([first.file], options, place);
    merged = merge(merged, again);
    if (again.failed > 0) continue;
    for (const { title, message } of first.failures) log(`unstable: ${first.file}, ${title}\n${message}`);
  }
  return merged;
}

function report(results) {
  for (const line of timesOf(results)) log(line);
  const skips = results.skipped > 0 ? `, ${results.skipped} skipped` : '';
  process.stdout.write(`${results.passed} passed, ${results.failed} failed${skips}\n`);
  return results.failed > 0 ? 1 : 0;
}
