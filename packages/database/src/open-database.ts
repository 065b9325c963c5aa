import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { connectionOptions } from './connection-options.ts';
import { readNowMs } from './database-clock.ts';
import { prismaAdapter } from './prisma-adapter.ts';
import { inTransaction } from './transaction.ts';

// Two services of two replicas stay far below PostgreSQL's default of 100 connections.
const poolMaxDefault = 10;
// A caller that cannot get a connection by then is better served by a 503 than by a longer queue.
const connectTimeoutMs = 5_000;
// No statement of ours scans for longer; one that does is holding locks that decisions wait for.
const statementTimeoutMs = 15_000;
// Only reached when the peer vanished without closing the socket: the server's own timeout answers first.
const queryTimeoutMs = statementTimeoutMs + 5_000;
// On flash and in memory a page costs the same wherever it lies. PostgreSQL's default of 4 suits a spinning disk: with it a
// whole table is read where an index leads to the few rows that are wanted.
const randomPageCost = 1.1;
const refusals: ReadonlySet<unknown> = new Set([
  '53100', // disk_full
  '25006', // read_only_sql_transaction: a standby after a fail-over
]);
// A crashed handler must not keep row locks.
const idleInTransactionTimeoutMs = 30_000;

export interface OpenDatabaseOptions {
  url: string;
  /** The service's own schema: search_path of raw SQL and schema of Prisma's queries. */
  schema: string;
  poolMax?: number;
  applicationName?: string;
}

interface PrismaOptions {
  adapter: SqlDriverAdapterFactory;
  transactionOptions: { maxWait: number; timeout: number };
  /** The other formats quote our source; see also withoutValues. */
  errorFormat: 'minimal';
}

export interface Database {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** For a client on the same pool: `new PrismaClient(database.prismaOptions)`. */
  readonly prismaOptions: PrismaOptions;
  /** Rejects when no statement can be answered right now, as `isUnavailable` tells, or when a write was refused and would be still. */
  ping(): Promise<void>;
  /** PostgreSQL's clock, in milliseconds. */
  nowMs(): Promise<number>;
  /** Waits for running statements, then closes every connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens one pool that raw SQL and Prisma share. Opening does not connect: a service may start before its PostgreSQL does, and a
 * PostgreSQL that restarts is found again by the next statement.
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
    // Statements that are sent together travel together. Callers that await each one notice nothing.
    pipeline: true,
  });
  surviveLostConnections(pool);
  const assertTakesWrites = watchRefusals(pool);
  return {
    pool,
    schema,
    prismaOptions: {
      adapter: prismaAdapter(pool, schema),
      // The last resort: the pool's and the server's own limits end a transaction first and say more.
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

// Without listeners Node turns a connection that PostgreSQL closed, idle or checked out, into an uncaught exception. The
// statement that needed it fails on its own; the pool drops the connection and opens another.
function surviveLostConnections(pool: pg.Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

// A full volume and a standby still answer reads, so a refused write is tried again.
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

// Sorts more than fits into its memory: as little as a temporary file needs room, and nothing is left of it.
async function assertRoom(client: pg.PoolClient): Promise<void> {
  await client.query(`SET LOCAL work_mem = '64kB'`);
  await client.query(
    'SELECT count(*) FROM (SELECT n FROM generate_series(1, 50000) n ORDER BY random() OFFSET 0) sorted',
  );
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby !== false) throw new Error('The database is a standby');
}
