import { randomUUID } from 'node:crypto';
import { errorCodes, isAppError } from '@countersign/contracts';
import type { ReplayDetails, ReplayFindings, WhatIfReport } from '@countersign/contracts/control-plane';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import type { NoteProgress } from '../policy/read-ledger.ts';
import { workOnReport } from '../policy/work-on-report.ts';
import { workOnReplay } from '../replays/work-on-replay.ts';
import type { Tx } from '../store/database.ts';
import { lockDraft } from '../store/draft-holds.ts';
import { noteReported } from '../store/policy-drafts.ts';
import {
  claimReplay,
  failReplay,
  finishReplay,
  noteReplayProgress,
  putOffReplay,
  type ClaimedReplay,
} from '../store/replays.ts';
import { claimJob, failJob, finishJob, noteProgress, putOffJob, type ClaimedJob } from '../store/what-if-jobs.ts';

const passMs = 500;
/** Longer than a page of records takes on a busy machine; what a process that died has left is taken over after it. */
const leaseMs = 60_000;

/** The pause before a kernel that was away is read again. */
const retryMs = 2_000;
/** A kernel that is away for longer than this fails the job. */
const outageMaxMs = 900_000;

type Held = { id: string; lease: string };
type Progress = { decisions: number; treeSize: number; until: Date };

type Claimed = { id: string; createdAt: Date };

/** A job that a person waits for: how it is claimed, worked on and ended. */
type Waited<Job, Result> = {
  claim(tx: Tx, terms: { lease: string; now: Date; until: Date }): Promise<Job | null>;
  /** `null` when another worker has taken it over. */
  work(context: Context, job: Job, note: NoteProgress): Promise<Result | null>;
  note(tx: Tx, held: Held, progress: Progress): Promise<boolean>;
  finish(tx: Tx, ended: { held: Held; job: Job; result: Result }, now: Date): Promise<void>;
  putOff(tx: Tx, held: Held, until: Date): Promise<void>;
  fail(tx: Tx, held: Held, failure: string, now: Date): Promise<void>;
};

export const reports: Waited<ClaimedJob, WhatIfReport> = {
  claim: claimJob,
  work: workOnReport,
  note: noteProgress,
  finish: async (tx, { held, job, result }, now) => {
    await lockDraft(tx, job.workspaceId); // before the job, as a request of a report does
    if (await finishJob(tx, held, result, now)) await noteReported(tx, job, job.id);
  },
  putOff: putOffJob,
  fail: failJob,
};

const replays: Waited<ClaimedReplay, { findings: ReplayFindings; details: ReplayDetails }> = {
  claim: claimReplay,
  work: workOnReplay,
  note: noteReplayProgress,
  finish: (tx, { held, result }, now) => finishReplay(tx, held, result, now),
  putOff: putOffReplay,
  fail: failReplay,
};

/** Works on the reports and the replays that people wait for, one of each at a time: a long report blocks no replay. */
export function startReporter(context: Context): { stop(): Promise<void> } {
  let isStopping = false;
  const passesOf = <Job extends Claimed, Result>(kind: Waited<Job, Result>) =>
    repeat({
      run: () => workOnNext(context, kind, () => isStopping),
      intervalMs: passMs,
      clockGuard: context.clockGuard,
      onFailure: (error) => context.log.warn('what_if.failed', { error }),
    });
  const passes = [passesOf(reports), passesOf(replays)];
  return {
    stop: async () => {
      isStopping = true;
      await Promise.all(passes.map((each) => each.close()));
    },
  };
}

/** Throws what the work failed with. An outage leaves the job for a later pass. */
export async function workOnNext<Job extends Claimed, Result>(
  context: Context,
  kind: Waited<Job, Result>,
  isStopping: () => boolean,
): Promise<void> {
  const { now, transaction } = context;
  const until = () => new Date(now().getTime() + leaseMs);
  const lease = randomUUID();
  const job = await transaction((tx) => kind.claim(tx, { lease, now: now(), until: until() }));
  if (job === null) return;
  const held = { id: job.id, lease };
  try {
    // Who stops leaves the job to the next process, from the same place in the log.
    const note: NoteProgress = async (progress) =>
      (await transaction((tx) => kind.note(tx, held, { ...progress, until: isStopping() ? now() : until() }))) &&
      !isStopping();
    const result = await kind.work(context, job, note);
    if (result !== null) await transaction((tx) => kind.finish(tx, { held, job, result }, now()));
  } catch (error) {
    const until = new Date(now().getTime() + retryMs);
    await transaction((tx) =>
      isOutage(error) && until.getTime() - job.createdAt.getTime() < outageMaxMs
        ? kind.putOff(tx, held, until)
        : kind.fail(tx, held, 'The records could not be read; ask for it again.', now()),
    );
    throw error;
  }
}

/** The same read may succeed later. */
function isOutage(error: unknown): boolean {
  return isAppError(error) && errorCodes[error.code].retryable;
}
