import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { patienceMs } from '@countersign/testkit/until';
import { readBooks } from './_books.ts';
import { startInstallation, type Installation, type Victim } from './_installation.ts';
import { findUnmatchedDecisions, findUnmatchedEffects, findUntrueRuns, questionOf } from './_kept-books.ts';
import { Moments } from './_moments.ts';
import { findBrokenLogs, findUnprovenRuns } from './_proofs.ts';
import { Seeded } from './_seeded.ts';
import { storm, type Struck } from './_storm.ts';
import { untilQuiet } from './_unrest.ts';
import { answerApprovals, signInPeople, startRuns, type Person, type StartedRun } from './_workload.ts';

type Storm = { seed: number; rounds: number };
type Played = { people: Person[]; started: StartedRun[] };

/**
 * Plays twenty runs in a new installation during a storm, and waits until no work of these runs is open. Returns the
 * struck parts and all faults in the records.
 */
export async function weather(planned: Storm): Promise<{ struck: Set<Victim>; untrue: string[] }> {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
  const struck: Struck[] = [];
  const installation = await startInstallation(scratch);
  let untrue = ['The storm was not played to its end'];
  try {
    const played = await play(installation, planned, struck);
    untrue = await findUntrue(installation, played);
    return { struck: new Set(struck.map(({ victim }) => victim)), untrue };
  } finally {
    await installation.stop();
    if (untrue.length === 0) rmSync(scratch, { recursive: true, force: true });
    else tell(planned, { scratch, struck });
  }
}

/** Prints the data that explains a failure. */
function tell({ seed }: Storm, { scratch, struck }: { scratch: string; struck: readonly Struck[] }): void {
  const strikes = struck.map(({ victim, moment, atMs }) => `  ${atMs} ms: ${victim}, ${moment}`);
  process.stderr.write(`STORM_SEED=${seed}, logs in ${scratch}\n${strikes.join('\n')}\n`);
}

async function play(installation: Installation, { seed, rounds }: Storm, struck: Struck[]): Promise<Played> {
  const { model, notes, doorUrls } = installation;
  const moments = new Moments();
  model.follow(async (request) => {
    await moments.pass('model');
    return followDirectives(request);
  });
  notes.hold(() => moments.pass('tool'));
  const people = await signInPeople(doorUrls);
  const over = new AbortController();
  const raging = storm({ installation, moments, seeded: new Seeded(seed), rounds, over: over.signal }, struck);
  const started = await startRuns(people);
  const answering = people.map((person) => answerApprovals(person, { started, stopping: over.signal }));
  const failing = raging.then(() => new Promise<never>(() => undefined));
  await Promise.race([untilQuiet(installation, { started, withinMs: patienceMs }), failing]);
  over.abort();
  await Promise.all([raging, ...answering]);
  return { people, started };
}

async function findUntrue(installation: Installation, { people, started }: Played): Promise<string[]> {
  const books = await readBooks(installation);
  const questions = installation.model.requests.map(({ body }) => questionOf(body, titleIn(body)));
  return [
    ...findUntrueRuns(books, started),
    ...findUnmatchedDecisions(books),
    ...findUnmatchedEffects(books, { notes: installation.notes.calls, questions }),
    ...(await findUnprovenRuns(installation, started)),
    ...(await findBrokenLogs(people)),
  ];
}

function titleIn(body: string): string | undefined {
  return /Run \d+/.exec(body)?.[0];
}
