import { defineEvent } from '@countersign/contracts';
import { ack, type Queryable, type Subscription } from '@countersign/messaging';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import { z } from 'zod';

export const noteTaken = defineEvent({ type: 'note.taken.v1', data: z.strictObject({ value: z.int() }) });
export const noteWanted = defineEvent({
  type: 'note.wanted.v1',
  data: z.strictObject({ value: z.int() }),
  needsConsumer: true,
});

/** The effects of handlers in these tests. An effect that happened twice has two rows. */
export const effectsTableSql = 'CREATE TABLE effects (nth bigserial PRIMARY KEY, value integer NOT NULL)';

export async function writeEffect(tx: Queryable, value: number): Promise<void> {
  await tx.query('INSERT INTO effects (value) VALUES ($1)', [value]);
}

export type NoteSubscription = Extract<Subscription<typeof noteTaken | typeof noteWanted>, { acts?: 'in-transaction' }>;

export function noteSubscription(
  database: Database,
  queue: string,
  over: Partial<NoteSubscription> = {},
): NoteSubscription {
  return {
    queue,
    events: [noteTaken, noteWanted],
    transaction: (work) => inTransaction(database.pool, work),
    retryBackoff: { baseMs: 10, maxMs: 20 },
    handler: async (event, tx) => {
      await writeEffect(tx, event.data.value);
      return ack;
    },
    ...over,
  };
}

export function openSchema(url: string, schema: string): Database {
  return openDatabase({ url, schema });
}
