import { AppError, isAppError, type WorkspaceId } from '@countersign/contracts';
import { usageEventsMax, type UsageEventRejection } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { monthUnitsMax } from '../metering/month-limit.ts';
import { parseUsageEvent } from '../metering/parse-usage-event.ts';
import type { UsageEvent } from '../metering/usage-event.ts';
import type { Tx } from '../store/database.ts';
import { listOwnWorkspaces } from '../store/orgs.ts';
import { recordUsage } from '../store/usage-events.ts';

type RecordedSubmission = {
  stored: number;
  /** Events that were already stored, or occur twice in the batch. */
  duplicates: number;
  rejections: UsageEventRejection[];
};

/**
 * Stores each submitted event (attacker-controlled) once. Rejects invalid events, events of a workspace of another
 * organisation, events whose ID was used with other contents, and events over the monthly limit. The other events are
 * stored.
 */
export async function recordSubmittedUsage(
  { transaction, now }: Pick<BillingDeps, 'transaction' | 'now'>,
  events: readonly unknown[],
  { orgId }: Pick<BillingCaller, 'orgId'>,
): Promise<RecordedSubmission> {
  if (events.length > usageEventsMax)
    throw new AppError(
      'INVALID_REQUEST',
      `events has ${events.length} members (limit ${usageEventsMax}). Send fewer events at once`,
      { param: 'events' },
    );
  const receivedAt = now();
  return await transaction(async (tx) => {
    const read = events.map((event, index) => readEvent(index, event, receivedAt));
    const checked = await rejectForeign(tx, orgId, read);
    const valid = checked.flatMap((entry) => ('event' in entry ? [entry] : []));
    const own = { orgId, events: valid.map(({ event }) => event), receivedAt, isLimited: true };
    const { stored, duplicates, conflicts, overLimit } = await recordUsage(tx, own);
    const rejected = valid.flatMap(({ index, event }) => {
      if (conflicts.includes(event)) return [conflictAt(index)];
      return overLimit.includes(event) ? [overLimitAt(index, event)] : [];
    });
    const invalid = checked.flatMap((entry) => ('event' in entry ? [] : [entry]));
    const rejections = [...invalid, ...rejected].toSorted((a, b) => a.index - b.index);
    return { stored, duplicates: duplicates - conflicts.length, rejections };
  });
}

type ReadEvent = { index: number; event: UsageEvent } | UsageEventRejection;

function readEvent(index: number, event: unknown, now: Date): ReadEvent {
  try {
    return { index, event: parseUsageEvent(event, now) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const param = error.param === '' ? null : error.param;
    return { index, code: 'INVALID_REQUEST', param, message: error.message };
  }
}

async function rejectForeign(
  tx: Tx,
  orgId: BillingCaller['orgId'],
  entries: readonly ReadEvent[],
): Promise<ReadEvent[]> {
  const named = entries.flatMap((entry) => ('event' in entry ? (entry.event.workspaceId ?? []) : []));
  const own = await listOwnWorkspaces(tx, orgId, [...new Set(named)]);
  return entries.map((entry) => {
    const workspaceId = 'event' in entry ? entry.event.workspaceId : null;
    return workspaceId === null || own.has(workspaceId) ? entry : foreignAt(entry.index, workspaceId);
  });
}

function foreignAt(index: number, workspaceId: WorkspaceId): UsageEventRejection {
  const message = `${workspaceId} is not a workspace of this organisation. Correct the event, or send it again later`;
  return { index, code: 'INVALID_REQUEST', param: 'data.workspace_id', message };
}

function conflictAt(index: number): UsageEventRejection {
  const message = 'id was used before with another meter, quantity or time. The first event is kept. Use a new id';
  return { index, code: 'ALREADY_EXISTS', param: 'id', message };
}

function overLimitAt(index: number, { meter, occurredAt }: UsageEvent): UsageEventRejection {
  const month = occurredAt.toISOString().slice(0, 7);
  const message = `${meter} of ${month} would be over ${monthUnitsMax} units. Correct the quantity of the event`;
  return { index, code: 'INVALID_REQUEST', param: 'data.quantity', message };
}
