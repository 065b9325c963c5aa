import { until } from './until.ts';

type Deps = {
  /** A connection of an administrator, outside any transaction. */
  holder: { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };
  /** The database role of the calls, whose statements wait. */
  role: string;
  /** The SQL that locks the row that each call writes last, such as the end of the audit chain. */
  hold: string;
};

/**
 * Starts the calls one after the other while `hold` locks a row that each needs at its end. Each call proceeds until it
 * waits for that row, or for a lock of an earlier call. When all calls wait, the row is released. Returns how each call
 * ended.
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
