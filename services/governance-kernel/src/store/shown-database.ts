import type { KernelDatabase } from './database.ts';
import { relationStores } from './relation-stores.ts';

/** The part of the database for routes and workers. Only the ledger sends statements through the pool itself. */
export function shown({ pool, reader, transaction, ping }: KernelDatabase) {
  const watched: Pick<typeof pool, 'on'> = pool;
  return {
    database: { ping },
    pool: watched,
    reader,
    transaction,
    ...relationStores({ reader, transaction }),
  };
}
