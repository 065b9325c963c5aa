// The time limit of a test file, in seconds on a quiet machine as fast as the one on which the numbers were measured. A
// machine that is busy with other things, or slower, gets more, or no judgement at all.
import { createHash } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { levelOf } from './levels.mjs';

const secondsOfLevel = { unit: 6, store: 12, service: 20, system: 40 };
/** A component brings the libraries of the console along, which one file of each worker loads. */
const secondsOfComponents = 10;
/** Files that need more than their level gives. Each names what takes the time. */
const secondsOfFile = {
  // Each part of the system is killed once, and waited for.
  'tests/chaos/killed-parts.test.ts': 45,
  // Workers at several moments of an activation.
  'tests/e2e/policy-activation.test.ts': 50,
  'tests/e2e/console-controls.test.ts': 40,
  // A fresh process for each hostile text.
  'packages/policy/tests/hostile-yaml.test.ts': 30,
  // A log of 600 receipts for each test, since half of them damage it.
  'services/governance-kernel/tests/log-proofs.test.ts': 30,
  // Each cause of a denial at the doors.
  'services/governance-kernel/tests/gates.test.ts': 30,
};
/** A file fails when it takes this much of its budget. */
const excess = 1.5;

/** Measures other load before and after the tests, and the speed of this machine. */
const busyShareMax = 0.1;
const watchMs = 500;
/** The time of the work below, on the machine on which the budgets were measured. */
const referenceMs = 60;

/** @param {string} path from the root, or absolute */
export function hasOwnBudget(path) {
  return Object.keys(secondsOfFile).some((file) => path.endsWith(file));
}

/** Looks at the machine while none of our tests run: with each `look`, whose worst sight counts. */
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

/** @returns {{ file: string, message: string }[]} the files that took half more than their budget */
export function overBudget(files, { isQuiet, slowness }) {
  if (!isQuiet) return [];
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

/** The fastest of five turns, in ms: what disturbs a turn makes it slower, never faster. */
function measureWork() {
  const block = Buffer.alloc(1_000_000);
  const turns = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    for (let count = 0; count < 30; count += 1) createHash('sha256').update(block).digest();
    return performance.now() - startedAt;
  });
  return Math.min(...turns);
}
