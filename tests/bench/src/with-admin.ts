import pg from 'pg';

/** One connection as the database's administrator, for fills and checks. */
export async function withAdmin<Result>(
  adminUrl: string,
  work: (client: pg.Client) => Promise<Result>,
  schema = 'kernel',
): Promise<Result> {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
