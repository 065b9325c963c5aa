import type pg from 'pg';
import { isUnavailable } from './failures.ts';

/**
 * Runs `work` inside BEGIN and COMMIT on one connection. Resolves only after PostgreSQL confirmed the commit; on any error it
 * rolls back and rethrows that error. When the connection broke during COMMIT the outcome is unknown: callers must be
 * idempotent.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await commit(client);
    client.release();
    return result;
  } catch (error) {
    client.release(await rollback(client, error));
    throw error;
  }
}

// PostgreSQL answers COMMIT of an aborted transaction with a quiet ROLLBACK: `work` swallowed an error.
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('The transaction was aborted by an earlier error and was rolled back.');
}

/** Returns true when the connection may not go back into the pool. */
async function rollback(client: pg.PoolClient, cause: unknown): Promise<boolean> {
  if (isUnavailable(cause)) return true;
  return client.query('ROLLBACK').then(
    () => false,
    () => true,
  );
}
