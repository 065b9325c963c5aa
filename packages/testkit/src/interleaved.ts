import { until } from './until.ts';

type Deps = {
  /** A connection of an administrator, outside any transaction. */
  holder: { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };
  /** The role whose statements wait. */
  role: string;
  /** Locks the row that each call writes last, such as the end of its audit chain. */
  hold: string;
};

/**
 * Starts the calls one after the other while a row that each of them needs at its end is locked. Each has then done as
 * much as possible before it waits, for that row or for a lock of an earlier call. Lets go when all wait, and says how
 * each ended.
 */
export async function interleaved(
  { holder, role, hold }: Deps,
  ...calls: (() => Promise<unknown>)[]
): Promise<PromiseSettledResult<unknown>[]> {
  const waiting = async () => {
    await holder.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await holder.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = $1 AND wait_event_type = 'Lock'`,
      [role],
    );
    return rows.length;
  };
  const started: Promise<unknown>[] = [];
  await holder.query('BEGIN');
  try {
    await holder.query(hold);
    for (const call of calls) {
      started.push(call());
      await until(async () => (await waiting()) === started.length);
    }
  } finally {
    await holder.query('ROLLBACK');
  }
  return await Promise.allSettled(started);
}
