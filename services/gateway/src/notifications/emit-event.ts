import { AppError, type PlainJson } from '@countersign/contracts';
import { notificationLimits } from '@countersign/contracts/gateway';
import { canonicalize, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { announce, findBacklog } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newId } from '../ids.ts';
import { holdRight } from '../members/hold-role.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import * as events from '../store/emitted-events.ts';

const minuteMs = 60_000;

type NewEvent = { type: string; dedupeKey: string; data: Record<string, PlainJson> };
type By = { caller: WorkspaceCaller; requestId: string };

/**
 * Records one notification per matching subscription, in one transaction with the dedupeKey. A killed process loses no
 * notification and repeats none. Throws IDEMPOTENCY_KEY_REUSED for the key of a different event, and RATE_LIMITED.
 */
export async function emitEvent(
  context: Pick<Context, 'now' | 'databaseNow' | 'transaction'>,
  event: NewEvent,
  by: By,
): Promise<events.StoredEvent> {
  const { workspaceId } = by.caller;
  const { type, dedupeKey, data } = event;
  const contentHash = digestOf(nodeProvider, canonicalize({ type, data }));
  return context.transaction(async (tx) => {
    // The lock on the workspace makes counting events and comparing keys sequential.
    await holdRight(tx, by.caller, 'event.emit');
    const existing = await events.findEmittedEvent(tx, { workspaceId, dedupeKey });
    if (existing !== null) return sameEvent(existing, contentHash);
    const now = await context.databaseNow(tx);
    await requireRoom(tx, { workspaceId, type, now });
    const id = newId('evt');
    const announcement = { owner: workspaceId, type, data, now: () => now, eventId: id };
    const deliveries = await announce(queryableOf(tx), announcement, () => newId('ntf'));
    const emitted = { id, deliveries, emittedBy: by.caller.actor, emittedAt: now };
    const stored = { workspaceId, dedupeKey, type, contentHash, ...emitted };
    await events.insertEmittedEvent(tx, stored);
    await recordEmitted(tx, context, { stored, by });
    return stored;
  });
}

function sameEvent(earlier: events.StoredEvent, contentHash: string): events.StoredEvent {
  if (earlier.contentHash === contentHash) return earlier;
  throw new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'dedupeKey was used for an event with another type or other data. Use a new key',
    {
      param: 'dedupeKey',
    },
  );
}

type Room = Pick<events.StoredEvent, 'type'> & { workspaceId: WorkspaceCaller['workspaceId']; now: Date };

async function requireRoom(tx: Tx, { workspaceId, type, now }: Room): Promise<void> {
  const { eventsPerMinute, waitingMax } = notificationLimits;
  const since = new Date(now.getTime() - minuteMs);
  if ((await events.countEmittedSince(tx, { workspaceId, since })) >= eventsPerMinute)
    throw new AppError(
      'RATE_LIMITED',
      `The workspace emitted ${eventsPerMinute} events within a minute, which is the limit. Try again later`,
    );
  const full = await findBacklog(queryableOf(tx), { owner: workspaceId, type, max: waitingMax });
  if (full === null) return;
  const message = `${waitingMax} notifications wait for the subscription ${full}. Pause it, or repair its receiver`;
  throw new AppError('RATE_LIMITED', message, { details: { subscription_id: full } });
}

async function recordEmitted(
  tx: Tx,
  context: Pick<Context, 'now'>,
  { stored, by: { caller, requestId } }: { stored: events.StoredEvent; by: By },
): Promise<void> {
  const { id: subject, type, deliveries } = stored;
  const { workspaceId, actor } = caller;
  const entry = { workspaceId, actor, requestId, action: 'event.emitted', verdict: 'allow' } as const;
  await recordAudit(tx, { ...entry, subject, details: { type, deliveries } }, context.now());
}
