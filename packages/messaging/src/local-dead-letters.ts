import { lettersMax, unknownType, type DeadLetters } from './dead-letters.ts';
import { redriveDeadLetters } from './local-deliveries.ts';
import type { Transaction } from './queryable.ts';

/** Dead letters of the in-process driver, in the tables of one service. */
export function localDeadLetters(transaction: Transaction): DeadLetters & { queues(): Promise<string[]> } {
  const rowsOf = (text: string, values: unknown[] = []) =>
    transaction(async (tx) => (await tx.query(text, values)).rows);
  return {
    queues: async () => (await rowsOf('SELECT DISTINCT queue FROM dead_letters')).map(({ queue }) => String(queue)),
    count: async (queue) => {
      const [row] = await rowsOf('SELECT count(*) AS n FROM dead_letters WHERE queue = $1', [queue]);
      return Number(row?.['n']);
    },
    list: async (queue) => {
      const rows = await rowsOf(
        'SELECT message_id, envelope, reason, dead_at FROM dead_letters WHERE queue = $1 ORDER BY dead_at, message_id LIMIT $2',
        [queue, lettersMax],
      );
      return rows.map((row) => ({
        messageId: String(row['message_id']),
        type: typeIn(String(row['envelope'])),
        reason: String(row['reason']),
        deadAt: row['dead_at'] instanceof Date ? row['dead_at'] : null,
      }));
    },
    redrive: (queue, messageId) => redriveDeadLetters(transaction, queue, messageId),
    close: async () => undefined,
  };
}

/** A dead letter may contain invalid JSON. */
function typeIn(envelope: string): string {
  try {
    const event: unknown = JSON.parse(envelope);
    const isTyped = typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string';
    return isTyped ? String(event.type) : unknownType;
  } catch {
    return unknownType;
  }
}
