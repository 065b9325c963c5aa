import pg from 'pg';
import type { TestKernel } from './_kernel.ts';

/**
 * Runs one statement as the database administrator, to simulate an attack or an accident that services cannot cause.
 */
export async function asAdministrator({ database }: TestKernel, sql: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: database.adminUrl, options: `-c search_path=${database.schema}` });
  await client.connect();
  try {
    await client.query(sql, values);
  } finally {
    await client.end();
  }
}
