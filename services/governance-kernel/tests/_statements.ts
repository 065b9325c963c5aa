import type pg from 'pg';

type Statement = {
  /** Empty when the statement is not a named prepared statement. */
  name: string;
  text: string;
  /** Size of the returned rows as JSON, in bytes. */
  bytes: number;
};

/**
 * The statements that a pool sends outside transactions while `work` runs. `work` receives the growing list. A failed
 * statement has 0 bytes.
 */
export async function statementsOf(
  pool: pg.Pool,
  work: (sent: readonly Statement[]) => Promise<unknown>,
): Promise<Statement[]> {
  const sent: Statement[] = [];
  const query = pool.query.bind(pool) as (...values: unknown[]) => Promise<{ rows: unknown[] }>;
  const noting = async (statement: unknown, ...rest: unknown[]) => {
    const { name = '', text = '' } =
      typeof statement === 'string' ? { text: statement } : (statement as Partial<Statement>); // the forms that pg accepts
    const noted = { name, text, bytes: 0 };
    sent.push(noted);
    const result = await query(statement, ...rest);
    noted.bytes = JSON.stringify(result.rows).length;
    return result;
  };
  pool.query = noting as typeof pool.query; // the same function, which also notes its calls
  try {
    await work(sent);
  } finally {
    pool.query = query as typeof pool.query; // the original function
  }
  return sent;
}

/** The names of the ledger statements that a pool sends while `work` runs. */
export async function ledgerStatementsOf(pool: pg.Pool, work: () => Promise<unknown>): Promise<string[]> {
  return (await statementsOf(pool, work)).map(({ name }) => name).filter((name) => name.startsWith('ledger-'));
}

/** Whether a statement in this database waits for a lock. */
export async function waitsForLock(by: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await by.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}
