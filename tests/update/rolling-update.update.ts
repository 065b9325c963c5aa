import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { readBooks, type Books } from '../chaos/_books.ts';
import { findUnmatchedDecisions, findUnmatchedEffects, findUntrueRuns, questionOf } from '../chaos/_kept-books.ts';
import { findBrokenLogs, findUnprovenRuns } from '../chaos/_proofs.ts';
import { untilQuiet } from '../chaos/_unrest.ts';
import { answerApprovals, atDoor, signInPeople, startRuns, type Person, type StartedRun } from '../chaos/_workload.ts';
import { serviceDirs, serviceDirsIn } from '../e2e/_environments.ts';
import { buildEarlierVersion, type EarlierVersion } from './_earlier-version.ts';
import { startPods, type Pods } from './_pods.ts';

/** Each call takes so long that every replacement of a pod happens during some calls. */
const callMs = 400;
const quietWithinMs = 120_000;

const scratch = mkdtempSync(join(tmpdir(), 'countersign-update-'));
let earlier: EarlierVersion;
let pods: Pods;

beforeAll(async () => {
  earlier = buildEarlierVersion(scratch);
  pods = await startPods(scratch, serviceDirsIn(earlier.checkout));
  pods.model.follow(async (request) => {
    await delay(callMs);
    return followDirectives(request);
  });
  pods.notes.hold(() => delay(callMs));
}, 600_000);

afterAll(async () => {
  await pods?.stop();
  earlier?.remove();
  rmSync(scratch, { recursive: true, force: true });
}, 60_000);

describe('pods of two versions over one database', () => {
  it('lose, duplicate and misread nothing while one pod after the other is replaced', async () => {
    const before = serviceDirsIn(earlier.checkout);
    const [first, second] = [await pods.add('first', before), await pods.add('second', before)];
    const people = await signInPeople([first.gateway.url, second.gateway.url]);
    const over = new AbortController();
    const started: StartedRun[] = [];
    const start = async (door: { url: string }, nths: number[]) =>
      void started.push(...(await startRuns(atDoorOf(people, door), nths)));
    const answering = people.map((person) => answerApprovals(person, { started, stopping: over.signal }));

    await start(first.gateway, [0, 1, 2, 3, 4]);
    const applied = await pods.migrate();
    await start(second.gateway, [5, 6, 7]);
    const third = await pods.add('third', serviceDirs);
    // Each version continues work that the other one started.
    await start(third.gateway, [8, 9, 10, 11]);
    await start(first.gateway, [12, 13, 14]);
    await pods.update(first);
    await start(first.gateway, [15, 16]);
    await start(second.gateway, [17]);
    await pods.update(second);
    await start(second.gateway, [18, 19]);
    await untilQuiet(pods, { started, withinMs: quietWithinMs });
    over.abort();
    await Promise.all(answering);

    process.stderr.write(`${earlier.commit} and this version, ${applied.length} migrations between them\n`);
    const books = await readBooks(pods);
    const questions = pods.model.requests.map(({ body }) => questionOf(body, /Run \d+/.exec(body)?.[0]));
    expect(findUntrueRuns(books, started)).toEqual([]);
    expect(findUncertain(books)).toEqual([]);
    expect(findUnmatchedDecisions(books)).toEqual([]);
    expect(findUnmatchedEffects(books, { notes: pods.notes.calls, questions })).toEqual([]);
    expect(await findUnprovenRuns({ ...pods, kernelUrl: third.kernel.url }, started)).toEqual([]);
    expect(await findBrokenLogs(people)).toEqual([]);
  }, 400_000);
});

function atDoorOf(people: readonly Person[], { url }: { url: string }): Person[] {
  return people.map((person) => atDoor(person, url));
}

/** Uncertain steps and decisions. There must be none, since no process was killed. */
function findUncertain({ steps, decisions }: Books): string[] {
  return [
    ...steps.filter(({ error_code: code }) => code === 'OUTCOME_UNCERTAIN').map(({ id }) => id),
    ...decisions.filter(({ outcomes }) => outcomes.includes('uncertain')).map(({ id }) => id),
  ];
}
