import type { Queryable } from '@countersign/messaging';
import type { EventFilter } from './subscriptions.ts';

/**
 * `now` is called only if there is a subscription to notify. It reads the clock of the database, which the courier uses
 * too.
 */
type Announcement = {
  owner: string;
  type: string;
  data: object;
  now(): Date | Promise<Date>;
  /** Id of the event if the caller has one. The body then contains it. */
  eventId?: string;
};

/**
 * Writes one notification for each active subscription of the owner that matches type and data, in the caller's
 * transaction. Notifications are sent if and only if the transaction commits. Without subscriptions, it costs one
 * query. Resolves to the number of notifications.
 */
export async function announce(
  tx: Queryable,
  { owner, type, data, now, eventId }: Announcement,
  newId: () => string,
): Promise<number> {
  const { rows } = await tx.query(
    `SELECT id, filter FROM subscriptions
      WHERE owner = $1 AND $2 = ANY(event_types) AND disabled_at IS NULL AND paused_at IS NULL`,
    [owner, type],
  );
  const ids = rows.filter((row) => matches(row['filter'] as EventFilter | null, data)).map((row) => String(row['id']));
  if (ids.length === 0) return 0;
  const at = await now();
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data, ...(eventId && { event_id: eventId }) });
  await tx.query(
    `INSERT INTO notifications (id, subscription_id, owner, type, body, event_id, due_at, created_at)
     SELECT id, subscription_id, $3, $4, $5, $7, $6::timestamptz, $6::timestamptz FROM unnest($1::text[], $2::text[]) AS each (id, subscription_id)`,
    [ids.map(newId), ids, owner, type, body, at, eventId ?? null],
  );
  return ids.length;
}

function matches(filter: EventFilter | null, data: object): boolean {
  const members = new Map(Object.entries(data));
  return filter === null || Object.entries(filter).every(([name, value]) => members.get(name) === value);
}
