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

const passMs = 1_000;
/** Longer than a page of records takes on a busy machine. After this time, another process takes over the job. */
const leaseMs = 60_000;

/** The pause before a kernel that was unavailable is read again. */
const retryMs = 2_000;
/** An outage fails the job when the job was requested longer ago than this. */
const outageMaxMs = 900_000;

type Lease = { id: string; lease: string };
type Progress = { decisions: number; treeSize: number; until: Date };

type Claimed = { id: string; createdAt: Date };

/** A job that a person waits for, with the functions that claim, run and end it. */
type Waited<Job, Result> = {
  claim(tx: Tx, terms: { lease: string; now: Date; until: Date }): Promise<Job | null>;
  /** `null` when another worker has taken over the job. */
  work(context: Context, job: Job, note: NoteProgress): Promise<Result | null>;
  note(tx: Tx, lease: Lease, progress: Progress): Promise<boolean>;
  finish(tx: Tx, ended: { snapshot: Lease; job: Job; result: Result }, now: Date): Promise<void>;
  putOff(tx: Tx, lease: Lease, until: Date): Promise<void>;
  fail(tx: Tx, lease: Lease, failure: string, now: Date): Promise<void>;
};

export const reports: Waited<ClaimedJob, WhatIfReport> = {
  claim: claimJob,
  work: workOnReport,
  note: noteProgress,
  finish: async (tx, { snapshot, job, result }, now) => {
    await lockDraft(tx, job.workspaceId); // before the job, since report requests lock in this order
    if (await finishJob(tx, snapshot, result, now)) await noteReported(tx, job, job.id);
  },
  putOff: putOffJob,
  fail: failJob,
};

const replays: Waited<ClaimedReplay, { findings: ReplayFindings; details: ReplayDetails }> = {
  claim: claimReplay,
  work: workOnReplay,
  note: noteReplayProgress,
  finish: (tx, { snapshot, result }, now) => finishReplay(tx, snapshot, result, now),
  putOff: putOffReplay,
  fail: failReplay,
};

/** Builds the requested reports and replays, one of each at a time, so a long report delays no replay. */
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

/** Works on the next job, if there is one. Throws the error of the work. An outage leaves the job for a later pass. */
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
  const snapshot = { id: job.id, lease };
  try {
    // A process that stops leaves the job to another one, which starts again below the same place in the log.
    const note: NoteProgress = async (progress) =>
      (await transaction((tx) => kind.note(tx, snapshot, { ...progress, until: isStopping() ? now() : until() }))) &&
      !isStopping();
    const result = await kind.work(context, job, note);
    if (result !== null) await transaction((tx) => kind.finish(tx, { snapshot, job, result }, now()));
  } catch (error) {
    const until = new Date(now().getTime() + retryMs);
    await transaction((tx) =>
      isOutage(error) && until.getTime() - job.createdAt.getTime() < outageMaxMs
        ? kind.putOff(tx, snapshot, until)
        : kind.fail(tx, snapshot, 'The records could not be read. Send the request again.', now()),
    );
    throw error;
  }
}

/** Whether a later attempt may succeed. */
function isOutage(error: unknown): boolean {
  return isAppError(error) && errorCodes[error.code].retryable;
}
