// Runs test files repeatedly in random order, under the conditions of a slow machine. Reports every failure with its
// trace, pictures of the pages and logs of the services. Usage: node tests/runner/stress.mjs [--times=N] [--load=N]
// <part of a path…>
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { neededParts } from './needed-parts.mjs';
import { runFiles } from './run-jest.mjs';
import { slowProxy } from './slow-proxy.mjs';
import { wantedFiles } from './wanted-files.mjs';

const seedMax = 2 ** 31 - 1;
/** The delay of each packet from and to PostgreSQL. */
const databaseDelayMs = 5;
const log = (line) => process.stderr.write(`${line}\n`);

const { values, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '20' }, load: { type: 'string', default: '2' } },
});
process.exitCode = await stress({ times: Number(values.times), load: Number(values.load), paths });

async function stress({ times, load, paths }) {
  if (!Number.isSafeInteger(times) || times < 1 || !Number.isSafeInteger(load) || load < 0 || paths.length === 0) {
    log('usage: make stress files="tests/e2e/stops …" [times=20] [load=2]');
    return 2;
  }
  const files = wantedFiles({ paths }).flatMap(([, ofLevel]) => ofLevel);
  if (files.length === 0) {
    log(`No test file has ${paths.join(' or ')} in its path`);
    return 2;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-stress-'));
  chmodSync(scratch, 0o711);
  const evidence = mkdtempSync(join(tmpdir(), 'countersign-evidence-'));
  const deps = neededParts(scratch, log);
  const counts = new Map(files.map((file) => [file, { times: 0, failures: [] }]));
  try {
    const env = { ...(await deps.of('system')), COUNTERSIGN_TEST_EVIDENCE: evidence };
    const conditions = conditionsOf({ env, load });
    for (let turn = 0; turn < times; turn += 1)
      await runOnce({ turn, files, scratch, counts, condition: conditions[turn % conditions.length] });
  } finally {
    await deps.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  return report(counts, evidence);
}

/**
 * The conditions of a slow machine. `begin` resolves with the settings for Jest, and with a function that ends the
 * condition.
 */
function conditionsOf({ env, load }) {
  const hasTaskset = spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0;
  return [
    { name: 'alone', begin: async () => ({ env, end: async () => {} }) },
    { name: `beside ${load} busy processes`, begin: async () => ({ env, end: keepBusy(load) }) },
    { name: 'slow database', begin: () => withSlowDatabase(env) },
    ...(hasTaskset
      ? [{ name: 'one core', begin: async () => ({ env, prefix: ['taskset', '-c', '0'], end: async () => {} }) }]
      : []),
  ];
}

function keepBusy(count) {
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return async () => {
    for (const child of busy) child.kill('SIGKILL');
  };
}

async function withSlowDatabase(env) {
  const proxy = await slowProxy(env.TEST_DATABASE_URL, databaseDelayMs);
  return { env: { ...env, TEST_DATABASE_URL: proxy.url }, end: proxy.close };
}

async function runOnce({ turn, files, scratch, counts, condition }) {
  const seed = randomInt(seedMax);
  log(`Turn ${turn + 1}, ${condition.name}, seed ${seed}`);
  const { env, prefix, end } = await condition.begin();
  const results = await runFiles(files, { seed }, { env, scratch, prefix }).finally(end);
  for (const { file, failures } of results.files) {
    const count = counts.get(file) ?? { times: 0, failures: [] };
    counts.set(file, count);
    count.times += 1;
    for (const failure of failures) count.failures.push({ ...failure, seed, condition: condition.name });
  }
}

function report(counts, evidence) {
  let failed = 0;
  for (const [file, { failures }] of counts) {
    failed += failures.length;
    for (const { title, message, seed, condition } of failures)
      process.stdout.write(`\n${file}, ${title}\n${condition}, seed ${seed}\n${message}\n`);
  }
  process.stdout.write('\nTimes  Failures  File\n');
  for (const [file, { times, failures }] of counts)
    process.stdout.write(`${String(times).padStart(5)}  ${String(failures.length).padStart(8)}  ${file}\n`);
  if (failed > 0) process.stdout.write(`\nPictures and logs: ${evidence}\n`);
  else rmSync(evidence, { recursive: true, force: true });
  return failed > 0 ? 1 : 0;
}
