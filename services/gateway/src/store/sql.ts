import { Instant } from '@countersign/contracts';
import type pg from 'pg';

/** A pool for single statements, or the connection of a transaction. */
export type Sql = pg.Pool | pg.PoolClient;

export function instant(date: Date): Instant {
  return Instant.parse(date.toISOString());
}

export function instantOrNull(date: Date | null): Instant | null {
  return date === null ? null : instant(date);
}

/** For statements that cannot return nothing, such as INSERT … RETURNING. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
