import type { Message } from './message-bus.ts';
import type { OutgoingEvent } from './new-event.ts';
import type { Queryable } from './queryable.ts';

/**
 * Writes events into the outbox in the caller's transaction. They are published if and only if it commits. Uses one
 * statement for any number of events. Call `relay.poke()` after the commit. Otherwise the relay finds them within its
 * poll interval.
 */
export async function recordEvents(tx: Queryable, events: readonly OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { text, values } = insertEvents(events);
  await tx.query(text, values);
}

/**
 * The statement of recordEvents(), for a transaction that computes all parameters before it sends the first statement.
 * Throws for an event that `JSON.stringify` cannot serialise.
 */
export function insertEvents(events: readonly OutgoingEvent[]): { text: string; values: unknown[] } {
  return {
    text: `INSERT INTO outbox (id, type, envelope, needs_consumer)
     SELECT id, type, envelope, needs_consumer
       FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) WITH ORDINALITY AS event (id, type, envelope, needs_consumer, nth)
      ORDER BY nth`,
    values: [
      events.map(({ event }) => event.id),
      events.map(({ event }) => event.type),
      events.map(({ event }) => JSON.stringify(event)),
      events.map(({ needsConsumer }) => needsConsumer),
    ],
  };
}

/** Locks the oldest unsent messages until the transaction ends; other relays skip them. */
export async function lockUnsent(tx: Queryable, limit: number): Promise<Message[]> {
  const { rows } = await tx.query(
    `SELECT id, type, envelope, needs_consumer FROM outbox
      WHERE sent_at IS NULL AND available_at <= now() ORDER BY position LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [limit],
  );
  return rows.map((row) => ({
    id: String(row['id']),
    type: String(row['type']),
    body: String(row['envelope']),
    needsConsumer: row['needs_consumer'] === true,
  }));
}

export async function markSent(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(`UPDATE outbox SET sent_at = now(), attempts = attempts + 1 WHERE id = ANY($1::text[])`, [ids]);
}

/**
 * Postpones messages that matched no queue, so that they do not block later messages. The delay is 1 s, 2 s, 4 s … up
 * to a minute.
 */
export async function postpone(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE outbox SET attempts = attempts + 1, available_at = now() + least(60, 2 ^ least(attempts, 6)) * interval '1 second'
      WHERE id = ANY($1::text[])`,
    [ids],
  );
}

/** Counts unsent messages up to a bound, so that a health check stays fast after a long outage. */
export async function countUnsent(tx: Queryable, bound: number): Promise<number> {
  const { rows } = await tx.query(
    `SELECT count(*)::int AS unsent FROM (SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT $1) AS waiting`,
    [bound],
  );
  return Number(rows[0]?.['unsent'] ?? 0);
}

/** Removes sent messages and handled message ids that are older than their retention. */
export async function purge(tx: Queryable, retention: { outboxMs: number; inboxMs: number }): Promise<void> {
  await tx.query(`DELETE FROM outbox WHERE sent_at < now() - $1::float8 * interval '1 millisecond'`, [
    retention.outboxMs,
  ]);
  await tx.query(`DELETE FROM inbox WHERE received_at < now() - $1::float8 * interval '1 millisecond'`, [
    retention.inboxMs,
  ]);
}
