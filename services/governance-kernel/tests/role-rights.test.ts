import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { serviceDir } from './_service-dir.ts';

let database: TestDatabase;
/** Connected with the role of the kernel. */
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ serviceDir, schema: 'kernel' });
  client = new pg.Client({ connectionString: database.url, options: '-c search_path=kernel' });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const insufficientPrivilege = '42501';

it.each([
  ['revoke a key', 'UPDATE trust_keys SET revoked_at = now()'],
  ['delete a key', 'DELETE FROM trust_keys'],
  ['delete a policy head', 'DELETE FROM policy_heads'],
  ['delete the end of a chain', 'DELETE FROM session_heads'],
  ['delete the size of the log', 'DELETE FROM log_tree'],
  ['change a sealed receipt', `UPDATE ledger SET payload = '{}'`],
])('an attacker in a kernel cannot %s', async (_act, statement) => {
  await expect(client.query(statement)).rejects.toMatchObject({ code: insufficientPrivilege });
});

it('a kernel can publish its keys', async () => {
  const insert = `INSERT INTO trust_keys (key_id, public_key, purpose, valid_from) VALUES ('k', '\\x00', 'receipts', now())`;
  await expect(client.query(insert)).resolves.toMatchObject({ rowCount: 1 });
});
