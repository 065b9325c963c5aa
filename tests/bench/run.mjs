// Measures the decision path against bare floors, in one run on one machine. Only ratios mean anything: floors and subjects take
// turns, so that whatever else the machine does hits both. Usage: TEST_DATABASE_URL=… node tests/bench/run.mjs [--quick]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@countersign/database/testing';
import { checkLedger } from './check-ledger.mjs';
import { openCommitFloor } from './commit-floor.mjs';
import { cpuSeconds } from './cpu-seconds.mjs';
import { kernelEnvironment } from './kernel-environment.mjs';
import { loadsOf, tryLoad } from './loads.mjs';
import { generateLoad, startKernel, startProcess } from './processes.mjs';
import { ratiosOf } from './ratios.mjs';
import { measurementsOf, tableOf } from './report.mjs';

const serviceDir = fileURLToPath(new URL('../../services/governance-kernel', import.meta.url));
const resultFile = fileURLToPath(new URL('latest.json', import.meta.url));
const isQuick = process.argv.includes('--quick');
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const settings = isQuick
  ? { rounds: 1, warmUpSeconds: 0.5, seconds: 0.5 }
  : { rounds: 3, warmUpSeconds: 2, seconds: 3 };
/** What is compared stands together: the members of a group take turns within each round. */
const groups = [
  ['nodeEcho', 'expressEcho', 'evaluate'],
  ['commit', 'evaluateAlone'],
  ['chatDirect', 'chat'],
  ['mcpDirect', 'mcp'],
];

const undo = [];
try {
  await main();
} finally {
  for (const end of undo.reverse()) await end();
}

async function main() {
  const bench = await prepare();
  const medians = {};
  for (const group of groups) Object.assign(medians, await measureGroup(bench, wanted(group)));
  const { sealed, signingKey, database } = bench;
  const ledger = await checkLedger({ adminUrl: database.adminUrl, sealed, signingKey });
  const ratios = ratiosOf(medians);
  const machine = machineOf(bench.postgres);
  report({ machine, medians, ratios, ledger });
}

async function prepare() {
  const scratchDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  undo.push(() => rmSync(scratchDir, { recursive: true, force: true }));
  const database = await createTestDatabase({ serviceDir, schema: 'kernel' });
  undo.push(() => database.drop());
  const commit = await openCommitFloor(database.adminUrl);
  undo.push(() => commit.close());
  const [nodeEcho, expressEcho, model, tools, generator] = await Promise.all([
    started(startProcess('echo-server', ['node'])),
    started(startProcess('echo-server', ['express'])),
    started(startProcess('model-server')),
    started(startProcess('tool-server')),
    started(startProcess('load-generator')),
  ]);
  const addresses = { databaseUrl: database.url, modelUrl: model.url, toolsUrl: tools.url, scratchDir };
  const { env, adminKey, signingKey } = kernelEnvironment(addresses);
  const kernel = await started(startKernel(env));
  const loads = loadsOf({ nodeEcho, expressEcho, model, tools, kernel, adminKey });
  return { database, commit, generator, kernel, loads, signingKey, sealed: 0, postgres: commit.serverVersion };
}

async function started(starting) {
  const running = await starting;
  undo.push(running.stop);
  return running;
}

function wanted(group) {
  return only === undefined ? group : group.filter((name) => only.includes(name));
}

/** Warms every member up, then lets them take turns. */
async function measureGroup(bench, names) {
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) {
    if (name !== 'commit') bench.sealed += await tryLoad(bench.loads[name]);
    await measure(bench, name, settings.warmUpSeconds);
  }
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const name of names) results[name].push(await measure(bench, name, settings.seconds));
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(results[name])]));
}

async function measure(bench, name, seconds) {
  if (name === 'commit') return { ...(await bench.commit.measure(seconds)), cpuMicros: null, generatorBusy: null };
  const { url, headers, bodies, pid, sealed } = bench.loads[name];
  const cpuBefore = cpuSeconds(pid);
  const result = await generateLoad(bench.generator, { url, headers, bodies, seconds });
  const cpuMicros = cpuBefore === null ? null : ((cpuSeconds(pid) - cpuBefore) * 1e6) / result.answers;
  bench.sealed += result.answers * sealed;
  const refused = Object.entries(result.statuses).filter(([status]) => status !== '200');
  if (refused.length > 0)
    throw new Error(`${name}: ${refused.map(([status, count]) => `${count} × ${status}`).join(', ')}`);
  return { ...result, cpuMicros };
}

/** The middle round by rate, whole, so that its figures belong together. */
function medianOf(rounds) {
  const sorted = [...rounds].sort((left, right) => left.perSecond - right.perSecond);
  return sorted[Math.floor(sorted.length / 2)];
}

function machineOf(postgres) {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres,
    measured_at: new Date().toISOString(),
  };
}

function report({ machine, medians, ratios, ledger }) {
  const result = {
    machine,
    settings: { ...settings, quick: isQuick },
    ratios: Object.fromEntries(ratios.map(({ name, value }) => [name, Number(value.toFixed(3))])),
    goals: Object.fromEntries(
      ratios.map(({ name, bound, goal, reached, boundBy }) => [name, { bound, goal, reached, boundBy }]),
    ),
    medians,
    ledger,
  };
  if (only === undefined) writeFileSync(resultFile, `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(`${measurementsOf(medians)}\n\n${tableOf(ratios)}\n\n`);
  process.stdout.write(
    `Ledger checked: ${ledger.receipts} receipts in ${ledger.chains} chains, as many as were answered; ${ledger.verified} signatures verified.\n`,
  );
}
