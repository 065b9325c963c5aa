import pg from 'pg';
import type { TestKernel } from './_kernel.ts';

type Site = Pick<TestKernel, 'database'>;

/**
 * Runs one statement as the database administrator, to simulate an attack or an accident that services cannot cause.
 */
export async function asAdministrator(site: Site, sql: string, values: unknown[] = []): Promise<void> {
  await readAsAdministrator(site, sql, values);
}

/** The rows of a query by the database administrator, who can read without a kernel. */
export async function readAsAdministrator<Row extends pg.QueryResultRow>(
  { database }: Site,
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
