import { join } from 'node:path';

/** The PostgreSQL that tests use: the one TEST_DATABASE_URL names, else one of our own, kept in `scratch`. */
export async function findPostgres(env, scratch) {
  if (env.TEST_DATABASE_URL) return { url: env.TEST_DATABASE_URL, stop: async () => {} };
  const { startEmbeddedPostgres } = await import('../../infra/local/dist/embedded-postgres.js');
  const started = await startEmbeddedPostgres({ dataDir: join(scratch, 'postgres'), durable: false, log: () => {} });
  return { url: started.adminUrl, stop: () => started.stop() };
}
