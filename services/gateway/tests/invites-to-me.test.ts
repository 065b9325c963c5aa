import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { proveAddress, sendSignInCode } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { rowsOf, serviceKey, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

const dayMs = 24 * 3_600_000;
const notFound = { code: 'NOT_FOUND', status: 404 };

let database: TestDatabase;
let gateway: StartedGateway;
let people = 0;
let nowMs = Date.now();
let ada: Person;
let eve: Person;
let evesAddress: string;

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, {
    GOV_RUN_WORKERS: '0',
    GOV_SIGN_UP: '@example.org',
    GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9',
  });
  gateway = await startTestGateway(config, { now: () => new Date(nowMs) });
});
beforeEach(async () => {
  people += 1;
  evesAddress = `eve-${people}@example.org`;
  ada = await signInAs(gateway.url, `ada-${people}@example.org`);
  eve = await signInAs(gateway.url, evesAddress);
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const invite = (email: string, role: 'partner' | 'member' = 'member') =>
  ada.client.createInvite({ params: { id: ada.workspace.id }, body: { email, role } });
const listedTo = async (person: Person) => (await person.client.listInvitesToMe()).body.data;
const firstTo = async (person: Person) => ({ inviteId: (await listedTo(person))[0]?.id ?? '' });
const rolesAtAda = async () =>
  (await ada.client.getWorkspace({ params: { id: ada.workspace.id } })).body.members.map(({ role }) => role);

describe('an invite', () => {
  verifies('gw.invite', 'is listed only for the person of its address, who joins with their session', async () => {
    const carl = await signInAs(gateway.url, `carl-${people}@example.org`);
    await invite(evesAddress, 'partner');
    const [listed] = await listedTo(eve);
    expect(listed).toMatchObject({ workspace: ada.workspace.name, from: ada.user.email, role: 'partner' });
    const params = await firstTo(eve);
    expect(await listedTo(carl)).toEqual([]);
    await expect(carl.client.joinByInvite({ params })).rejects.toMatchObject(notFound);
    expect(await rolesAtAda()).toEqual(['owner']);
    expect((await eve.client.joinByInvite({ params })).body).toEqual({ workspace: ada.workspace, role: 'partner' });
    expect(await rolesAtAda()).toEqual(['owner', 'partner']);
    expect(await listedTo(eve)).toEqual([]);
    await expect(eve.client.joinByInvite({ params })).rejects.toMatchObject(notFound);
  });

  it('that was revoked or has expired is not listed and cannot be joined', async () => {
    await invite(evesAddress);
    const revoked = await firstTo(eve);
    await ada.client.revokeInvite({ params: { id: ada.workspace.id, ...revoked } });
    await expect(eve.client.joinByInvite({ params: revoked })).rejects.toMatchObject(notFound);
    await invite(evesAddress);
    const late = await firstTo(eve);
    expect(late).not.toEqual(revoked);
    nowMs += 8 * dayMs;
    expect(await listedTo(eve)).toEqual([]);
    await expect(eve.client.joinByInvite({ params: late })).rejects.toMatchObject(notFound);
    expect(await rolesAtAda()).toEqual(['owner']);
  });

  verifies('gw.invite', 'admits a new person in the console, without a workspace of their own', async () => {
    const email = `guest-${people}@elsewhere.example`;
    const headers = () => ({ authorization: `Bearer ${serviceKey}` });
    const sibling = createClient({ proveAddress, sendSignInCode }, { baseUrl: gateway.url, headers });
    const prove = async () => {
      const { code = '' } = (await sibling.sendSignInCode({ body: { email, isLocal: true } })).body;
      return (await sibling.proveAddress({ body: { email, code } })).body.user;
    };
    await expect(prove()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await invite(email);
    const { id } = await prove();
    expect(await rowsOf(database, 'SELECT 1 FROM workspace_members WHERE user_id = $1', [id])).toEqual([]);
  });
});
