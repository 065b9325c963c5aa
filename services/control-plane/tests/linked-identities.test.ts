import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { UserId } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import { insertProviderIdentity, listIdentitiesOf, removeIdentity } from '../src/store/provider-identities.ts';

const userOf = (n: number) => UserId.parse(`usr_${String(n).padStart(26, '0')}`);
const [owner, member] = [userOf(1), userOf(2)];
let scratch: TestDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  database = openControlPlaneDatabase(scratch.url);
});
afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

const at = (n: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + n);

it('the list of identities contains only those of the person, and identities of others cannot be removed', async () => {
  const link = (subject: string, userId: UserId) =>
    database.transaction((tx) =>
      insertProviderIdentity(tx, {
        ...{ issuer: 'https://id.example', subject, userId },
        ...{ connectionId: 'acme', linkedAt: at(0) },
      }),
    );
  await link('of-owner', owner);
  await link('of-member', member);
  const [identity] = await listIdentitiesOf(database.reader, owner);
  expect(identity).toMatchObject({ subject: 'of-owner', id: expect.stringMatching(/^idp\.[\w-]{43}$/) });
  if (identity === undefined) throw new Error('The identity that was linked is not listed');
  const remove = (userId: UserId) => database.transaction((tx) => removeIdentity(tx, { ...identity, userId }));
  expect([await remove(member), await remove(owner), await remove(owner)]).toEqual([false, true, false]);
  expect(await listIdentitiesOf(database.reader, owner)).toEqual([]);
  expect(await listIdentitiesOf(database.reader, member)).toHaveLength(1);
});
