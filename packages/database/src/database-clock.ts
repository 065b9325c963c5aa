import type pg from 'pg';

type Row = { ms: number };

/** PostgreSQL's clock in milliseconds at the time of the statement. All services of a database share it. */
export async function readNowMs(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<Row>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms');
  return msOf(rows);
}

/** A Prisma client or its transaction. */
type Queries = { $queryRaw(sql: TemplateStringsArray): PromiseLike<unknown> };

/** The clock of the database, read within a transaction. */
export type DatabaseClock = (queries: Queries) => Promise<Date>;

/**
 * The clock for statements that remove rows or store them with an expiry. They do not use the clock of a process, which
 * may be wrong. A test that sets the time of a service passes its own clock as `moved`, which then replaces the
 * database clock.
 *
 * @example
 * const databaseNow = databaseClock();
 * await transaction(async (tx) => forgetChallenges(tx, await databaseNow(tx)));
 */
export function databaseClock(moved?: () => Date): DatabaseClock {
  return async (queries) => {
    if (moved !== undefined) return moved();
    const rows = await queries.$queryRaw`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
    return new Date(msOf(rows as Row[])); // the statement returns one row with one number
  };
}

function msOf([row]: readonly Row[]): number {
  if (row === undefined) throw new Error('PostgreSQL returned no time');
  return row.ms;
}
