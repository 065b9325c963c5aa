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
import { changeRun } from '../orchestrator/change-run.ts';
import { bringBackFreed } from '../orchestrator/work-on-run.ts';

/** A run that takes its worker down so many times without one settled step is given up. */
const attemptsMax = 5;

/**
 * Longer than most runs wait for a free worker. An extra job does no harm: a worker that finds its run claimed acknowledges it.
 */
const unclaimedMs = 600_000;
/**
 * A worker that is idle gets each job at once, so a run that has waited this long has none: a broker that lost its queues loses jobs. A
 * broker that is only away gets a second job, which does no harm.
 */
const unclaimedIdleMs = 30_000;

/** The time that ended objects are kept for people who look for them. */
const endedKeptMs = 30 * 24 * 3_600_000;

/** A person asks about a failed call within days. */
const reportsKeptMs = 7 * 24 * 3_600_000;

/** A caller that lost the answer to an event sends the event again within days. */
const eventKeysKeptMs = 7 * 24 * 3_600_000;

/** Far more often than relations grow stale (a day, unless it is configured), and rarely enough to cost nothing. */
const membersToldAfterMs = 3_600_000;

/**
 * Brings back runs whose worker died or whose job was lost, and settles what ended runs left open. Ends runs whose
 * approval expired, and continues those whose time lock has passed. Removes old answers, reports of failed calls, and
 * invites, keys, sessions and notifications that ended long ago. Publishes the lists of members that were not published
 * for an hour. Safe on every replica at once.
 */
export async function sweep(context: Context, { isIdle = false }: { isIdle?: boolean } = {}): Promise<void> {
  await bringBackOrphans(context);
  await bringBackUnclaimed(context, isIdle ? unclaimedIdleMs : unclaimedMs);
  await bringBackFreed(context);
  await endLeftSteps(context);
  // Ends are judged by the database's clock: that of this machine may jump during a pass.
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

/** Uses the clock of the database: rows that a wrong clock removes do not come back. */
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
