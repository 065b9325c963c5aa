import { createLifecycle, type Log } from '@countersign/service-kit';
import { openDataDir } from './data-dir.ts';
import { prepareDatabase } from './prepare-database.ts';

/**
 * Creates a stopped cluster in `path`/postgres with the schemas of all services. A data directory that begins with a
 * copy of it starts without initdb and without migrations.
 */
export async function createClusterTemplate(path: string, log: Log): Promise<void> {
  const lifecycle = createLifecycle(log);
  const dataDir = openDataDir(path, { adminApiKey: null, serviceApiKey: null });
  try {
    await prepareDatabase({ databaseUrl: null }, dataDir, { lifecycle, log });
  } finally {
    await lifecycle.stop();
  }
}
