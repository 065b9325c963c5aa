// Changes one thing in the sources at a time and counts what the tests notice.
// Usage: node tests/mutation/mutate.mjs [--room <name>]… [--sample <n>] [--seed <n>] [--json <file>] [--fresh]
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { findPostgres } from '../runner/postgres.mjs';
import { findRabbitmq } from '../runner/rabbitmq.mjs';
import { copyTree } from './tree.mjs';
import { sourcesBelow, testsBelow } from './files.mjs';
import { KeptResults } from './kept-results.mjs';
import { listMutants } from './mutants.mjs';
import { describeResult, resultOf } from './result.mjs';
import { rooms } from './rooms.mjs';
import { runMutants } from './run-mutants.mjs';
import { sampleOf } from './sample.mjs';

/** The share of visible mutants that tests must kill. */
const target = 0.92;

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.stryker-tmp');
const reachedFolder = join(cache, 'reached');
const scratch = join(cache, `run-${process.pid}`);
const log = (line) => process.stderr.write(`${line}\n`);

process.exitCode = await main().catch((error) => {
  log(error instanceof Error ? error.message : String(error));
  return 1;
});

async function main() {
  const options = readOptions();
  if (options.fresh) rmSync(cache, { recursive: true, force: true });
  mkdirSync(reachedFolder, { recursive: true });
  removeAtExit(scratch);
  process.chdir(copyTree({ root, tree: join(scratch, 'tree') }));
  const all = await listMutants(options.rooms.flatMap((room) => sourcesBelow(rooms[room].source)));
  const chosen = sampleOf(
    all.filter(({ isIgnored }) => !isIgnored),
    options,
  );
  const { results, leftOut } = await resultsOf(chosen);
  const result = { ...resultOf({ all, chosen, results, options }), leftOut };
  if (options.json !== undefined) writeFileSync(resolve(root, options.json), `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(describeResult(result));
  return result.isEnough ? 0 : 1;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      room: { type: 'string', multiple: true, default: Object.keys(rooms) },
      sample: { type: 'string', default: 'all' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      fresh: { type: 'boolean', default: false },
    },
  });
  const unknown = values.room.find((room) => !Object.hasOwn(rooms, room));
  if (unknown !== undefined) throw new Error(`There is no room ${unknown}, only ${Object.keys(rooms).join(', ')}`);
  const size = values.sample === 'all' ? Infinity : Number(values.sample);
  if (!(size > 0)) throw new Error(`--sample must be a number of mutants, not ${values.sample}`);
  return { rooms: values.room, size, seed: values.seed, json: values.json, fresh: values.fresh, target };
}

/**
 * The result of each mutant: from an earlier run if it is valid, else from a run now. Rooms of one unit run together.
 */
async function resultsOf(chosen) {
  const kept = new KeptResults(join(cache, 'results.jsonl'));
  const results = new Map();
  const leftOut = [];
  for (const unit of new Set(chosen.map(({ room }) => rooms[room].unit))) {
    const ofUnit = chosen.filter(({ room }) => rooms[room].unit === unit);
    const testFiles = testFilesOf(new Set(ofUnit.map(({ room }) => room)));
    for (const mutant of ofUnit) {
      const existing = kept.find(mutant, testFiles);
      if (existing !== undefined) results.set(mutant.key, existing);
    }
    const mutants = ofUnit.filter(({ key }) => !results.has(key));
    log(`${unit}: ${mutants.length} mutants to run with ${testFiles.length} test files, ${results.size} results known`);
    if (mutants.length === 0) continue;
    const isService = testFiles.some((file) => file.startsWith('services/'));
    const onResult = (mutant, result) => {
      results.set(mutant.key, result);
      kept.record(mutant, result, testFiles);
      const nr = ofUnit.filter(({ key }) => results.has(key)).length;
      log(`${nr}/${ofUnit.length} ${result.status.padEnd(10)} ${mutant.file}:${mutant.line}`);
    };
    const run = () =>
      runMutants({ mutants, sources: sourcesOf(unit), testFiles, isService, scratch, reachedFolder, onResult });
    leftOut.push(...(await (isService ? withParts(run) : run())));
  }
  return { results, leftOut };
}

function testFilesOf(names) {
  const beginnings = [...names].flatMap((name) => rooms[name].tests);
  const folders = new Set(beginnings.map((path) => path.slice(0, path.lastIndexOf('/'))));
  const files = [...folders].flatMap((folder) => testsBelow(folder));
  return files.filter((file) => beginnings.some((beginning) => file.startsWith(beginning)));
}

/** All files of all rooms of the unit. The mutants are numbered over all of them, whichever rooms were requested. */
function sourcesOf(unit) {
  const ofUnit = Object.values(rooms).filter((room) => room.unit === unit);
  return ofUnit.flatMap(({ source }) => sourcesBelow(source));
}

/** Services need PostgreSQL and RabbitMQ; packages are tested alone. */
async function withParts(run) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-mutate-'));
  // PostgreSQL runs under its own account when we are root, and must be able to enter the folder.
  chmodSync(folder, 0o711);
  removeAtExit(folder);
  const rabbitmq = await findRabbitmq(process.env, folder, log);
  process.env.AMQP_URL = rabbitmq.url;
  const postgres = await findPostgres(process.env, folder);
  process.env.TEST_DATABASE_URL = postgres.url;
  try {
    return await run();
  } finally {
    await postgres.stop();
    await rabbitmq.stop();
  }
}

/** Also covers an interrupted run, where Stryker ends the process itself. */
function removeAtExit(folder) {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
