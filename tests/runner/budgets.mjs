// The time limit of a test file, in seconds on a quiet reference machine. A slower machine gets more time. A busy
// machine is not judged.
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { levelOf } from './levels.mjs';

const secondsOfLevel = { unit: 6, store: 12, service: 20, system: 40 };
/** A component test loads the libraries of the console, once in each worker. */
const secondsOfComponents = 10;
/** Files with a budget of their own. Each comment names the reason for the files below it. */
const secondsOfFile = {
  // Compares two readers on ten thousand lines.
  'packages/verifier/tests/pack-line-reader.test.ts': 12,
  // Verifies each vector a second time, with signatures in JavaScript.
  'packages/verifier/tests/vectors.test.ts': 12,
  // Kills each part of the system once and waits for its restart.
  'tests/chaos/killed-parts.test.ts': 45,
  // Starts workers at several moments of an activation.
  'tests/e2e/policy-activation.test.ts': 50,
  // Calls every route of all services.
  'tests/e2e/parity.test.ts': 55,
  // Types every command of the how-to pages.
  'tests/e2e/how-to.test.ts': 55,
  // Starts a process for each command, as people do.
  'tests/e2e/local-boundary.test.ts': 55,
  // Runs the command that each page of the console offers.
  'tests/e2e/console-commands.test.ts': 55,
  // Makes a log of 600 receipts for each test, since half of the tests damage it.
  'services/governance-kernel/tests/log-proofs.test.ts': 30,
  // Kills a process in each step of adding, approving and revoking a server.
  'services/governance-kernel/tests/server-crash.test.ts': 60,
  // Restarts the kernel for each change of a declaration.
  'services/governance-kernel/tests/declared-servers.test.ts': 30,
  // Makes a call for each cause of a denial.
  'services/governance-kernel/tests/gates.test.ts': 30,
};
/** A file fails when its time is this multiple of its budget. */
const excess = 1.5;

/** A machine with a larger share of other load, before or after the tests, counts as busy. */
const busyShareMax = 0.1;
const watchMs = 500;
/** The time of `measureWork` on the reference machine. */
const referenceMs = 50;

/** @param {string} path from the root, or absolute */
export function hasOwnBudget(path) {
  return Object.keys(secondsOfFile).some((file) => path.endsWith(file));
}

/** The load and the speed of the machine. Call `look` while none of our tests run. The worst look counts. */
export class Pace {
  #busyShare = 0;
  #workMs = 0;

  async look() {
    this.#busyShare = Math.max(this.#busyShare, await busyShare());
    this.#workMs = Math.max(this.#workMs, measureWork());
  }

  get isQuiet() {
    return this.#busyShare <= busyShareMax;
  }

  get slowness() {
    return Math.max(1, this.#workMs / referenceMs);
  }
}

/** A slower machine is not judged, since it slows some tests much more than others. */
const slownessMax = 2;

/** @returns {{ file: string, message: string }[]} the files that exceeded their budget by half */
export function overBudget(files, { isQuiet, slowness }) {
  if (!isQuiet || slowness > slownessMax) return [];
  return files.flatMap(({ file, seconds }) => {
    const budget = secondsFor(file) * slowness;
    if (seconds <= budget * excess) return [];
    const message = `${file} took ${seconds.toFixed(1)} s on a quiet machine, and its budget is ${budget.toFixed(0)} s`;
    return [{ file, message }];
  });
}

function secondsFor(file) {
  return secondsOfFile[file] ?? (file.endsWith('.tsx') ? secondsOfComponents : secondsOfLevel[levelOf(file)]);
}

/** The busy share of all processors, over half a second in which this process sleeps. */
async function busyShare() {
  const before = times();
  await delay(watchMs);
  const after = times();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function times() {
  const all = cpus().flatMap((cpu) => Object.entries(cpu.times));
  const sum = (entries) => entries.reduce((total, [, ms]) => total + ms, 0);
  return { idle: sum(all.filter(([kind]) => kind === 'idle')), all: sum(all) };
}

/**
 * The fastest of five starts of Node, in ms. Like tests, a start needs JavaScript, memory and new processes. Other load
 * makes a start slower, never faster.
 */
function measureWork() {
  const turns = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - startedAt;
  });
  return Math.min(...turns);
}
