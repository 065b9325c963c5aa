import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** A folder in memory. A file system on a disk takes ten times as long to make the 500 files of each test database. */
const memory = '/dev/shm';
/** Far more space than the tests of one run use. */
const freeBytesMin = 4 * 2 ** 30;
const prefix = 'countersign-postgres-';

/** The PostgreSQL for tests: the one in TEST_DATABASE_URL, else our own, with its data in memory or in `scratch`. */
export async function findPostgres(env, scratch) {
  if (env.TEST_DATABASE_URL) return { url: env.TEST_DATABASE_URL, stop: async () => {} };
  const { startEmbeddedPostgres } = await import('../../infra/local/dist/embedded-postgres.js');
  const folder = mkdtempSync(join(hasMemory() ? memory : scratch, `${prefix}${process.pid}-`));
  // PostgreSQL runs under its own account when we are root, and must be able to enter the folder.
  chmodSync(folder, 0o711);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const started = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: false, log: () => {} });
    return { url: started.adminUrl, stop: () => started.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

function hasMemory() {
  try {
    removeLeftOvers();
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > freeBytesMin;
  } catch {
    return false;
  }
}

/** Removes folders of killed runs, which would use memory until the machine restarts. */
function removeLeftOvers() {
  for (const name of readdirSync(memory).filter((entry) => entry.startsWith(prefix))) {
    const [pid] = name.slice(prefix.length).split('-');
    if (!existsSync(`/proc/${pid}`)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}
