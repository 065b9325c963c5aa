import type { TestDatabase } from '@countersign/database/testing';
import pg from 'pg';

/** Rows of the database, read by its administrator and not through the service. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  { adminUrl, schema }: TestDatabase,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
