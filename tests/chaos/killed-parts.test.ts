import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { verifies } from '@countersign/testkit/verifies';
import { root } from '../architecture/repository.ts';
import { readBooks } from './_books.ts';
import { startInstallation, victims, type Installation } from './_installation.ts';
import { findUnmatchedDecisions, findUnmatchedEffects, findUntrueRuns, questionOf } from './_kept-books.ts';
import { Moments } from './_moments.ts';
import { findBrokenLogs, findUnprovenRuns } from './_proofs.ts';
import { Seeded } from './_seeded.ts';
import { storm, type Struck } from './_storm.ts';
import { untilQuiet } from './_unrest.ts';
import { answerApprovals, signInPeople, startRuns, type Person, type StartedRun } from './_workload.ts';

const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000);
/** Of everything from the first run to the last outcome. An answer that died with the kernel is given up after 36 s. */
const quietWithinMs = 240_000;

const scratch = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
const struck: Struck[] = [];
let installation: Installation;
let people: Person[];
let started: StartedRun[];
let hasHeld = false;

beforeAll(async () => {
  // What is killed is the real program in a process of its own, so it has to be built.
  const projects = ['services/gateway', 'services/governance-kernel'];
  execFileSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', ...projects], { cwd: root });
  installation = await startInstallation(scratch);
}, 180_000);

afterAll(async () => {
  await installation?.stop();
  if (hasHeld) rmSync(scratch, { recursive: true, force: true });
}, 60_000);

/** Twenty runs at once, and everything that happens to them, until nothing is open any more. */
async function weather(): Promise<void> {
  const { model, notes, doorUrls } = installation;
  const moments = new Moments();
  model.follow(async (request) => {
    await moments.pass('model');
    return followDirectives(request);
  });
  notes.hold(() => moments.pass('tool'));
  people = await signInPeople(doorUrls);
  const over = new AbortController();
  const raging = storm({ installation, moments, seeded: new Seeded(seed), over: over.signal }, struck);
  started = await startRuns(people);
  const answering = people.map((person) => answerApprovals(person, { started, stopping: over.signal }));
  const failing = raging.then(() => new Promise<never>(() => undefined));
  await Promise.race([untilQuiet(installation, { started, withinMs: quietWithinMs }), failing]);
  over.abort();
  await Promise.all([raging, ...answering]);
}

/** What a failure needs to be understood. */
async function telling(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    hasHeld = true;
  } catch (error) {
    const strikes = struck.map(({ victim, moment, atMs }) => `  ${atMs} ms: ${victim}, ${moment}`);
    process.stderr.write(`STORM_SEED=${seed}, logs in ${scratch}\n${strikes.join('\n')}\n`);
    throw error;
  }
}

describe('twenty runs, while every part is killed or cut', () => {
  verifies(
    'gw.run.crash',
    'end in a true state: one decision for each step, one effect for each that was allowed, every chain whole',
    () =>
      telling(async () => {
        await weather();
        expect(new Set(struck.map(({ victim }) => victim))).toEqual(new Set(victims));
        const books = await readBooks(installation);
        const questions = installation.model.requests.map(({ body }) => questionOf(body, titleIn(body)));
        expect(findUntrueRuns(books, started)).toEqual([]);
        expect(findUnmatchedDecisions(books)).toEqual([]);
        expect(findUnmatchedEffects(books, { notes: installation.notes.calls, questions })).toEqual([]);
        expect(await findUnprovenRuns(installation, started)).toEqual([]);
        expect(await findBrokenLogs(people)).toEqual([]);
      }),
    400_000,
  );
});

function titleIn(body: string): string | undefined {
  return /Run \d+/.exec(body)?.[0];
}
