import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@countersign/database';
import { services } from '@countersign/services';
import { expect, it } from '@jest/globals';
import { createClusterTemplate } from '../src/cluster-template.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres.ts';
import { embeddedUrl } from '../src/running-server.ts';

const servicesDir = fileURLToPath(new URL('../../../services/', import.meta.url));
const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent, isEnabled: () => false };

it('the cluster template is a stopped cluster with all migrations of all services', async () => {
  const home = await mkdtemp(join(tmpdir(), 'countersign-template-'));
  await createClusterTemplate(home, silent);
  const dataDir = join(home, 'postgres');
  expect(embeddedUrl(dataDir)).toBeNull();
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const { pool, close } = openDatabase({ url: server.adminUrl, schema: 'public' });
  for (const { schema, name: folder } of services) {
    const { rows } = await pool.query(`SELECT migration_name FROM ${schema}._prisma_migrations ORDER BY 1`);
    const names = await readdir(join(servicesDir, folder, 'prisma/migrations'));
    expect(rows.map((row: { migration_name: string }) => row.migration_name)).toEqual(
      names.filter((name) => /^\d/.test(name)).sort(),
    );
  }
  await close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});
