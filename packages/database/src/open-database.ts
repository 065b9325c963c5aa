import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { connectionOptions } from './connection-options.ts';
import { readNowMs } from './database-clock.ts';
import { prismaAdapter } from './prisma-adapter.ts';
import { inTransaction } from './transaction.ts';

// Two services with two replicas each stay far below PostgreSQL's default of 100 connections.
const poolMaxDefault = 10;
// A caller that waits longer for a connection gets a 503, which is better than a longer queue.
const connectTimeoutMs = 5_000;
// All our statements take less time. A longer one would hold locks that decisions wait for.
const statementTimeoutMs = 15_000;
// Applies only when the server vanished without closing the socket. Otherwise the server's own timeout is earlier.
const queryTimeoutMs = statementTimeoutMs + 5_000;
// On flash and in memory, all pages cost the same. PostgreSQL's default of 4 is for spinning disks: it reads whole
// tables where an index would find a few rows.
const randomPageCost = 1.1;
const refusals: ReadonlySet<unknown> = new Set([
  '53100', // disk_full
  '25006', // read_only_sql_transaction: a standby after a fail-over
]);
// A crashed handler must not keep row locks for longer.
const idleInTransactionTimeoutMs = 30_000;

export interface OpenDatabaseOptions {
  url: string;
  /** The service's own schema, for the search_path of raw SQL and for Prisma's queries. */
  schema: string;
  poolMax?: number;
  applicationName?: string;
}

interface PrismaOptions {
  adapter: SqlDriverAdapterFactory;
  transactionOptions: { maxWait: number; timeout: number };
  /** Prisma's other error formats quote our source code. See also withoutValues. */
  errorFormat: 'minimal';
}

export interface Database {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** For a client on the same pool: `new PrismaClient(database.prismaOptions)`. */
  readonly prismaOptions: PrismaOptions;
  /** Rejects when a statement fails. After a refused write, rejects until writes succeed again. */
  ping(): Promise<void>;
  /** PostgreSQL's clock in milliseconds. */
  nowMs(): Promise<number>;
  /** Waits for running statements, then closes every connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens one pool that raw SQL and Prisma share. Opening does not connect, so a service may start before its PostgreSQL.
 * After a restart of PostgreSQL, the next statement reconnects.
 *
 * @example
 * const database = openDatabase({ url: config.databaseUrl, schema: 'kernel' });
 * const prisma = new PrismaClient(database.prismaOptions);
 */
export function openDatabase({ url, schema, poolMax, applicationName }: OpenDatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    options: `${connectionOptions({ schema })} -c random_page_cost=${randomPageCost}`,
    application_name: applicationName ?? `countersign-${schema}`,
    max: poolMax ?? poolMaxDefault,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
    // Sends concurrent statements together. Callers that await each statement are not affected.
    pipeline: true,
  });
  surviveLostConnections(pool);
  const assertTakesWrites = watchRefusals(pool);
  return {
    pool,
    schema,
    prismaOptions: {
      adapter: prismaAdapter(pool, schema),
      // A last resort. The timeouts of the pool and of the server are shorter, and their errors are more precise.
      transactionOptions: { maxWait: connectTimeoutMs + 1_000, timeout: idleInTransactionTimeoutMs + 1_000 },
      errorFormat: 'minimal',
    },
    ping: async () => {
      await pool.query('SELECT 1');
      await assertTakesWrites();
    },
    nowMs: () => readNowMs(pool),
    close: async () => {
      if (!pool.ending) await pool.end();
    },
  };
}

// Without listeners, a connection that PostgreSQL closes becomes an uncaught exception in Node. A statement on that
// connection fails anyway, and the pool opens a new connection.
function surviveLostConnections(pool: pg.Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

// A full volume and a standby still serve reads. After a refused write, the health check therefore also needs a
// successful write.
function watchRefusals(pool: pg.Pool): () => Promise<void> {
  let hasRefused = false;
  pool.on('connect', (client) => {
    if (!(client instanceof pg.Client)) return;
    client.connection.on('errorMessage', ({ code }: { code?: string }) => (hasRefused ||= refusals.has(code)));
  });
  return async () => {
    if (!hasRefused) return;
    await inTransaction(pool, assertRoom);
    hasRefused = false;
  };
}

// A sort of more rows than work_mem holds needs a temporary file, so it fails on a full volume. It leaves nothing
// behind.
async function assertRoom(client: pg.PoolClient): Promise<void> {
  await client.query(`SET LOCAL work_mem = '64kB'`);
  await client.query(
    'SELECT count(*) FROM (SELECT n FROM generate_series(1, 50000) n ORDER BY random() OFFSET 0) sorted',
  );
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby !== false) throw new Error('The database is a standby');
}
