import pg from 'pg';
import type { TestKernel } from './_kernel.ts';

/**
 * Runs one statement as the database administrator, to simulate an attack or an accident that services cannot cause, or
 * to read while no kernel runs.
 */
export async function asAdministrator<Row extends pg.QueryResultRow>(
  { database }: Pick<TestKernel, 'database'>,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.adminUrl, options: `-c search_path=${database.schema}` });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
