import pg from 'pg';
import type { TestKernel } from './_kernel.ts';

/** Runs one statement as the administrator of the database: what no service may do, an attacker or an accident can. */
export async function asAdministrator({ database }: TestKernel, sql: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: database.adminUrl, options: `-c search_path=${database.schema}` });
  await client.connect();
  try {
    await client.query(sql, values);
  } finally {
    await client.end();
  }
}
