import pg from 'pg';

/** One connection as the database's administrator, for fills and checks. */
export async function withAdmin<Result>(
  adminUrl: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=kernel' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
