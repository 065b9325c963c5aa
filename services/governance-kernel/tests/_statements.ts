import type pg from 'pg';

type Statement = {
  /** Empty for one that is not prepared under a name. */
  name: string;
  text: string;
  /** The bytes of the rows of its answer, as JSON. */
  bytes: number;
};

/** The statements that a pool sends by itself while `work` runs, outside transactions; `work` sees them come. One that fails has no rows. */
export async function statementsOf(
  pool: pg.Pool,
  work: (sent: readonly Statement[]) => Promise<unknown>,
): Promise<Statement[]> {
  const sent: Statement[] = [];
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<{ rows: unknown[] }>;
  const noting = async (statement: unknown, ...rest: unknown[]) => {
    const { name = '', text = '' } =
      typeof statement === 'string' ? { text: statement } : (statement as Partial<Statement>); // as pg takes it
    const noted = { name, text, bytes: 0 };
    sent.push(noted);
    const result = await query(statement, ...rest);
    noted.bytes = JSON.stringify(result.rows).length;
    return result;
  };
  pool.query = noting as typeof pool.query; // the same calls, noted
  try {
    await work(sent);
  } finally {
    pool.query = query as typeof pool.query; // as it was
  }
  return sent;
}

/** The names of the ledger's statements among them. */
export async function ledgerStatementsOf(pool: pg.Pool, work: () => Promise<unknown>): Promise<string[]> {
  return (await statementsOf(pool, work)).map(({ name }) => name).filter((name) => name.startsWith('ledger-'));
}

/** Whether a statement in this database waits for what another one holds. */
export async function waitsForLock(by: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await by.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}
