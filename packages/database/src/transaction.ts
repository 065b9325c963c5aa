import type pg from 'pg';
import { isUnavailable } from './failures.ts';

/**
 * Runs `work` between BEGIN and COMMIT on one connection. Resolves only after PostgreSQL confirmed the commit. After an
 * error it rolls back and rethrows the error. If the connection breaks during COMMIT, the outcome is unknown, so
 * callers must be idempotent.
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

// PostgreSQL answers COMMIT with ROLLBACK, without an error, if `work` caught the error of a failed statement.
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('The transaction was aborted by an earlier error and was rolled back.');
}

/** Returns true when the connection must not return to the pool. */
async function rollback(client: pg.PoolClient, cause: unknown): Promise<boolean> {
  if (isUnavailable(cause)) return true;
  return client.query('ROLLBACK').then(
    () => false,
    () => true,
  );
}
