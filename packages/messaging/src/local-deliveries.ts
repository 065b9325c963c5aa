import type { Message } from './message-bus.ts';
import type { Queryable, Transaction } from './queryable.ts';

// Queues of the in-process driver: tables of the consuming service, so that a published message survives kill -9.
export type LocalDelivery = { messageId: string; body: string; number: number };

export async function enqueue(tx: Queryable, queue: string, messages: readonly Message[]): Promise<void> {
  await tx.query(
    `INSERT INTO deliveries (queue, message_id, envelope)
     SELECT $1, id, envelope FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS message (id, envelope, nth) ORDER BY nth
     ON CONFLICT DO NOTHING`,
    [queue, messages.map(({ id }) => id), messages.map(({ body }) => body)],
  );
}

/**
 * Claims the oldest available deliveries and hides them for `leaseMs`. Deliveries are counted before the handler runs,
 * so crashes count too.
 */
export async function claim(
  tx: Queryable,
  queue: string,
  take: { limit: number; leaseMs: number },
): Promise<LocalDelivery[]> {
  const { rows } = await tx.query(
    `WITH claimed AS (
       UPDATE deliveries SET attempts = attempts + 1, available_at = now() + $3::float8 * interval '1 millisecond'
        WHERE queue = $1 AND message_id IN (
          SELECT message_id FROM deliveries WHERE queue = $1 AND available_at <= now() ORDER BY position LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING message_id, envelope, attempts, position)
     SELECT message_id, envelope, attempts FROM claimed ORDER BY position`,
    [queue, take.limit, take.leaseMs],
  );
  return rows.map((row) => ({
    messageId: String(row['message_id']),
    body: String(row['envelope']),
    number: Number(row['attempts']),
  }));
}

/**
 * Hides the delivery for `ms` from now, to prolong the lease or to delay the retry. Does nothing if another delivery
 * has begun.
 */
export async function hide(
  tx: Queryable,
  queue: string,
  { messageId, number }: LocalDelivery,
  ms: number,
): Promise<void> {
  await tx.query(
    `UPDATE deliveries SET available_at = now() + $4::float8 * interval '1 millisecond'
      WHERE queue = $1 AND message_id = $2 AND attempts = $3`,
    [queue, messageId, number, ms],
  );
}

export async function remove(tx: Queryable, queue: string, { messageId, number }: LocalDelivery): Promise<void> {
  await tx.query('DELETE FROM deliveries WHERE queue = $1 AND message_id = $2 AND attempts = $3', [
    queue,
    messageId,
    number,
  ]);
}

export async function bury(
  tx: Queryable,
  queue: string,
  { messageId, number }: LocalDelivery,
  reason: string,
): Promise<void> {
  await tx.query(
    `WITH gone AS (DELETE FROM deliveries WHERE queue = $1 AND message_id = $2 AND attempts = $3 RETURNING *)
     INSERT INTO dead_letters (queue, message_id, envelope, deliveries, reason)
     SELECT queue, message_id, envelope, attempts, $4 FROM gone
     ON CONFLICT (queue, message_id) DO UPDATE SET deliveries = excluded.deliveries, reason = excluded.reason, dead_at = now()`,
    [queue, messageId, number, reason],
  );
}

/**
 * Ends leases without a holder. They are from a killed process (this driver has only one process), or from a claim that
 * committed although its reply was lost. Delays before a retry look the same, and end too.
 */
export async function releaseLeases(tx: Queryable, queue: string, queues: readonly string[]): Promise<void> {
  await tx.query(
    'UPDATE deliveries SET available_at = now() WHERE queue = $1 AND available_at > now() AND message_id <> ALL($2::text[])',
    [queue, queues],
  );
}

/**
 * Moves one or all in-process dead letters of a queue back into it, and returns their number. For a command outside the
 * service. Within the service, `bus.redrive(queue)` also wakes the consumer.
 */
export function redriveDeadLetters(transaction: Transaction, queue: string, messageId?: string): Promise<number> {
  return transaction(async (tx) => {
    const { rows } = await tx.query(
      `WITH risen AS (DELETE FROM dead_letters WHERE queue = $1 AND ($2::text IS NULL OR message_id = $2) RETURNING *)
       INSERT INTO deliveries (queue, message_id, envelope)
       SELECT queue, message_id, envelope FROM risen ORDER BY dead_at
       ON CONFLICT (queue, message_id) DO UPDATE SET attempts = 0, available_at = now()
       RETURNING message_id`,
      [queue, messageId ?? null],
    );
    return rows.length;
  });
}
