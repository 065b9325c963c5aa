import { agentOf } from '@countersign/contracts';
import { forgetNotifications } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { publishMembersAgain, publishRunEnqueued } from '../events.ts';
import { expireApproval } from '../approvals/expire-approval.ts';
import { releaseHeld } from '../approvals/release-held.ts';
import { findExpired } from '../store/approvals.ts';
import { forgetEmittedEvents } from '../store/emitted-events.ts';
import { forgetApiKeys } from '../store/api-keys.ts';
import { forgetAnswers } from '../store/idempotency.ts';
import { forgetInvites } from '../store/invites.ts';
import { forgetInitData } from '../store/messenger-sign-ins.ts';
import type { Tx } from '../store/database.ts';
import { takeOrphans, takeUnclaimed, type LeftRun } from '../store/leases.ts';
import { forgetReports } from '../store/reports.ts';
import { forgetSessions } from '../store/sessions.ts';
import { endLeftSteps } from '../orchestrator/end-left-steps.ts';
import { changeRun } from '../run-moves/change-run.ts';
import { bringBackFreed } from '../lanes/bring-back-freed.ts';

/** A run that stops its worker this many times without a settled step is abandoned. */
const attemptsMax = 5;

/**
 * Longer than most runs wait for a free worker. An extra job does no harm, since a worker acknowledges the job of a
 * claimed run.
 */
const unclaimedMs = 600_000;
/**
 * An idle worker receives each job at once, so a run that has waited this long has no job: a broker that lost its
 * queues lost the job. A broker that was only unavailable gets a second job, which does no harm.
 */
const unclaimedIdleMs = 30_000;

/** The time for which ended objects stay visible. */
const endedKeptMs = 30 * 24 * 3_600_000;

/** People look up a failed call within days. */
const reportsKeptMs = 7 * 24 * 3_600_000;

/** A caller that lost the answer to an event repeats the event within days. */
const eventKeysKeptMs = 7 * 24 * 3_600_000;

/** Far more often than relations become stale (a day by default), and rarely enough to cost nothing. */
const membersToldAfterMs = 3_600_000;

/**
 * Makes runs due whose worker died or whose job was lost, and settles open steps of ended runs. Ends runs with an
 * expired approval, and continues those whose time lock has ended. Removes old answers, init data, keys of events and
 * reports of failed calls. Removes invites, API keys, sessions and notifications that ended long ago. Publishes lists
 * of members that were not published for an hour. Every replica may run it at the same time.
 */
export async function sweep(context: Context, { isIdle = false }: { isIdle?: boolean } = {}): Promise<void> {
  await bringBackOrphans(context);
  await bringBackUnclaimed(context, isIdle ? unclaimedIdleMs : unclaimedMs);
  await bringBackFreed(context);
  await endLeftSteps(context);
  // Ends are computed with the clock of the database, since the clock of this machine may jump during a pass.
  const at = await context.database.transaction(context.databaseNow);
  for (const expired of await findExpired(context.database.reader, at)) await expireApproval(context, expired);
  await releaseHeld(context, at);
  await forgetRows(context);
  const toldBefore = new Date(at.getTime() - membersToldAfterMs);
  await context.transaction((tx) => publishMembersAgain(tx, context, { before: toldBefore, now: at }));
}

const forgotten: readonly { keptMs: number; forget(tx: Tx, before: Date): Promise<void> }[] = [
  { keptMs: 0, forget: forgetAnswers },
  { keptMs: 0, forget: forgetInitData },
  { keptMs: endedKeptMs, forget: forgetInvites },
  { keptMs: endedKeptMs, forget: forgetApiKeys },
  { keptMs: endedKeptMs, forget: forgetSessions },
  { keptMs: endedKeptMs, forget: (tx, before) => forgetNotifications(queryableOf(tx), before) },
  { keptMs: reportsKeptMs, forget: forgetReports },
  { keptMs: eventKeysKeptMs, forget: forgetEmittedEvents },
];

/** Uses the clock of the database, since rows that a wrong clock removes cannot be restored. */
async function forgetRows({ database: { transaction }, databaseNow }: Context): Promise<void> {
  for (const { keptMs, forget } of forgotten)
    await transaction(async (tx) => forget(tx, new Date((await databaseNow(tx)).getTime() - keptMs)));
}

async function bringBackOrphans(context: Context): Promise<void> {
  const orphans = await context.transaction(async (tx) => {
    const taken = await takeOrphans(tx, context.config.runs.leaseMs);
    for (const orphan of taken) if (orphan.attempts < attemptsMax) await publishRunEnqueued(tx, context, orphan);
    return taken;
  });
  for (const orphan of orphans) {
    context.log.warn('run.orphaned', { run_id: orphan.runId, attempts: orphan.attempts });
    if (orphan.attempts >= attemptsMax) await giveUp(context, orphan);
  }
}

async function bringBackUnclaimed(context: Context, waitedMs: number): Promise<void> {
  const unclaimed = await context.transaction(async (tx) => {
    const taken = await takeUnclaimed(tx, waitedMs);
    for (const run of taken) await publishRunEnqueued(tx, context, run);
    return taken;
  });
  for (const { runId } of unclaimed) context.log.warn('run.unclaimed', { run_id: runId });
}

async function giveUp(context: Context, orphan: LeftRun): Promise<void> {
  await context.transaction((tx) =>
    changeRun(tx, context, orphan, {
      from: ['running'],
      to: 'failed',
      outcome: null,
      error: { code: 'RUN_ABANDONED', message: 'The workers of this run died again and again.' },
      actor: agentOf(orphan.workspaceId),
    }),
  );
}
