import type { Queryable } from '@countersign/messaging';

/** `now` is read when there is a subscription to notify: by the clock of the database, as the courier does. */
type Announcement = { owner: string; type: string; data: object; now(): Date | Promise<Date> };

/**
 * Writes one notification for each subscription of the owner that asked for this type, in the caller's transaction: it is told if, and only if, that
 * commits. Cheap where nobody asked. Resolves to how many there are.
 */
export async function announce(
  tx: Queryable,
  { owner, type, data, now }: Announcement,
  newId: () => string,
): Promise<number> {
  const { rows } = await tx.query(
    `SELECT id FROM subscriptions WHERE owner = $1 AND $2 = ANY(event_types) AND disabled_at IS NULL`,
    [owner, type],
  );
  if (rows.length === 0) return 0;
  const at = await now();
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data });
  await tx.query(
    `INSERT INTO notifications (id, subscription_id, owner, type, body, due_at, created_at)
     SELECT id, subscription_id, $3, $4, $5, $6::timestamptz, $6::timestamptz FROM unnest($1::text[], $2::text[]) AS each (id, subscription_id)`,
    [rows.map(newId), rows.map((row) => String(row['id'])), owner, type, body, at],
  );
  return rows.length;
}
