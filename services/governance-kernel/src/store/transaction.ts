import { inTransaction } from '@countersign/database';
import type { Queryable, Transaction } from '@countersign/messaging';
import type pg from 'pg';

/** What messaging needs of the pool. */
export function transactionOn(pool: pg.Pool): Transaction {
  return (work) => inTransaction(pool, (client) => work(client as Queryable)); // pg's query has more forms; this is the one that messaging uses
}
