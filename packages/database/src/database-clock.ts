import type pg from 'pg';

type Row = { ms: number };

/** PostgreSQL's clock in milliseconds, as it is when the statement runs. All services of a database share it. */
export async function readNowMs(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<Row>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms');
  return msOf(rows);
}

/** A Prisma client, or a transaction of one. */
type Queries = { $queryRaw(sql: TemplateStringsArray): PromiseLike<unknown> };

/** The same clock within a transaction. */
export type DatabaseClock = (queries: Queries) => Promise<Date>;

/**
 * The clock for what removes rows, or keeps them for a time: the clock of one process may be wrong. A test that moves the time of a
 * service gives that clock as `moved`, and it counts instead.
 *
 * @example
 * const databaseNow = databaseClock();
 * await transaction(async (tx) => forgetChallenges(tx, await databaseNow(tx)));
 */
export function databaseClock(moved?: () => Date): DatabaseClock {
  return async (queries) => {
    if (moved !== undefined) return moved();
    const rows = await queries.$queryRaw`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
    return new Date(msOf(rows as Row[])); // the statement has one row of one number
  };
}

function msOf([row]: readonly Row[]): number {
  if (row === undefined) throw new Error('PostgreSQL returned no time');
  return row.ms;
}
