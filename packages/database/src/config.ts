/** URL of a server on which tests and the migration tool may create and drop databases. */
export function scratchDatabaseUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url) return url;
  throw new Error(
    'TEST_DATABASE_URL is not set: run `make test`, which starts a PostgreSQL, or set it to the URL of your server.',
  );
}
