import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate, openDatabase, provisionRoles } from '../src/index.ts';
import type { Database } from '../src/index.ts';
import { createTestDatabase } from '../src/testing.ts';
import type { TestDatabase } from '../src/testing.ts';
import { withLogin } from '../src/urls.ts';
import { withClient } from '../src/with-client.ts';
import { fixtureServiceDir } from './fixture.ts';

describe('a service role', () => {
  const neighbour = {
    schema: 'gateway',
    role: `countersign_test_neighbour_${randomBytes(4).toString('hex')}`,
    password: randomBytes(16).toString('hex'),
  };
  let scratch: TestDatabase;
  let kernel: Database;

  beforeAll(async () => {
    scratch = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel' });
    await provisionRoles({ adminUrl: scratch.adminUrl, services: [neighbour] });
    await migrate({ url: scratch.adminUrl, serviceDir: fixtureServiceDir, ...neighbour });
    kernel = openDatabase({ url: scratch.url, schema: 'kernel' });
    await kernel.pool.query(`INSERT INTO receipts (id, body) VALUES ('r1', '{}')`);
    await kernel.pool.query(`INSERT INTO notes (id, text) VALUES ('n1', 'a')`);
  });

  afterAll(async () => {
    await kernel.close();
    await scratch.drop();
    await withClient(scratchServer(scratch.adminUrl), async (client) => {
      await client.query(`DROP ROLE "${neighbour.role}", "${neighbour.role}_owner"`);
    });
  });

  const forbidden = [
    ['cannot update an append-only table', `UPDATE receipts SET body = '1' WHERE id = 'r1'`],
    ['cannot delete from an append-only table', `DELETE FROM receipts`],
    ['cannot truncate an append-only table', `TRUNCATE receipts`],
    ['cannot give itself the revoked right back', `GRANT UPDATE ON receipts TO CURRENT_USER`],
    ['cannot become the owner', `SET ROLE countersign_test_kernel_owner`],
    ['cannot rewrite the migration history', `DELETE FROM _prisma_migrations`],
    ['cannot read another schema', `SELECT * FROM gateway.notes`],
    ['cannot create tables in its own schema', `CREATE TABLE extra ()`],
    ['cannot create tables in public', `CREATE TABLE public.extra ()`],
    ['cannot drop its tables', `DROP TABLE notes`],
  ] as const;
  for (const [guarantee, sql] of forbidden) {
    it(guarantee, async () => {
      const error: unknown = await kernel.pool.query(sql).catch((reason: unknown) => reason);
      // PostgreSQL only warns about a GRANT without the grant option, so the test checks that the right is still
      // missing.
      if (sql.startsWith('GRANT')) return expect(await mayUpdateReceipts(kernel)).toBe(false);
      expect(error).toMatchObject({ code: '42501' });
    });
  }

  it('reads, inserts, updates and deletes in its ordinary tables', async () => {
    const updated = await kernel.pool.query(`UPDATE notes SET text = 'b' WHERE id = 'n1' RETURNING text`);
    expect(updated.rows).toEqual([{ text: 'b' }]);
    expect((await kernel.pool.query(`DELETE FROM notes`)).rowCount).toBe(1);
  });

  it('logs in with the password of the latest provisioning', async () => {
    const renewed = { ...neighbour, password: randomBytes(16).toString('hex') };
    await provisionRoles({ adminUrl: scratch.adminUrl, services: [renewed] });
    const gateway = openDatabase({ url: withLogin(scratch.adminUrl, renewed), schema: 'gateway' });
    await expect(gateway.ping()).resolves.toBeUndefined();
    await gateway.close();
  });

  it('cannot migrate its own schema, but the owner of the schema can if it has a password', async () => {
    const ownerPassword = randomBytes(16).toString('hex');
    const asOwner = { role: `${neighbour.role}_owner`, password: ownerPassword };
    const migrateAs = (login: { role: string; password: string }) =>
      migrate({ url: withLogin(scratch.adminUrl, login), serviceDir: fixtureServiceDir, ...neighbour });
    await provisionRoles({ adminUrl: scratch.adminUrl, services: [{ ...neighbour, ownerPassword }] });
    await expect(migrateAs(asOwner)).resolves.toEqual([]);
    await expect(migrateAs(neighbour)).rejects.toMatchObject({ code: '42501' });
    await provisionRoles({ adminUrl: scratch.adminUrl, services: [neighbour] });
    await expect(migrateAs(asOwner)).rejects.toMatchObject({ code: '28000' });
  });
});

async function mayUpdateReceipts({ pool }: Database): Promise<unknown> {
  const { rows } = await pool.query<{ may: boolean }>(`SELECT has_table_privilege('receipts', 'UPDATE') AS may`);
  return rows[0]?.may;
}

function scratchServer(adminUrl: string): string {
  const url = new URL(adminUrl);
  url.pathname = '/postgres';
  return url.href;
}
