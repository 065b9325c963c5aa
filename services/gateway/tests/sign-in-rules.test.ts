import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient, ScimUserId, UserId } from '@countersign/contracts';
import { identityUpdated } from '@countersign/contracts/commercial-gateway';
import { authorizeSignIn, proveAddress, sendSignInCode } from '@countersign/contracts/gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { TestDatabase } from '@countersign/database/testing';
import { recordEventsIn } from '@countersign/messaging';
import { reaching } from '@countersign/testkit/until';
import { ulid } from 'ulid';
import type { StartedGateway } from '../src/index.ts';
import { openSession } from '../src/identity/open-session.ts';
import { requireSsoNow } from '../src/identity/require-sso.ts';
import { receivePerson } from '../src/provisioning/receive-person.ts';
import { receiveSignInRule } from '../src/provisioning/receive-sign-in-rule.ts';
import type { PublishedSettings } from '../src/store/sign-in-rules.ts';
import { clientOf, rowsOf, serviceKey, signInAs, startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
/** A domain of its own for each test. */
let domain: string;
let orgId: OrgId;

beforeAll(async () => {
  database = await testDatabase();
  const variables = { GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9', GOV_RUN_WORKERS: '0' };
  gateway = await startTestGateway(testConfig(database, variables));
});

beforeEach(() => {
  domain = `d${ulid().toLowerCase()}.example`;
  orgId = OrgId.parse(`org_${ulid()}`);
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const stranger = UserId.parse(`usr_${ulid()}`);
let version = 0;
const settingsOf = (change: Partial<PublishedSettings> = {}): PublishedSettings => ({
  ...{ org_id: orgId, version: (version += 1), sso_required: true, oidc_connection_id: 'acme', role_mappings: [] },
  ...{ break_glass_user_id: stranger, verified_domains: [domain], ...change },
});
const receive = (settings: PublishedSettings) =>
  gateway.context.transaction((tx) => receiveSignInRule(tx, gateway.context, settings));
const sibling = () => {
  const headers = () => ({ authorization: `Bearer ${serviceKey}` });
  return createClient({ authorizeSignIn, proveAddress, sendSignInCode }, { baseUrl: gateway.url, headers });
};
const authorize = (user_id: string, connection_id: string | null) =>
  sibling().authorizeSignIn({ params: { user_id }, body: { connection_id } });
const refusal = { code: 'SSO_REQUIRED', details: { connection_id: 'acme' } };
const endingsOf = (id: string) =>
  rowsOf(database, `SELECT FROM outbox WHERE type = 'user.access-ended.v1' AND envelope LIKE '%' || $1 || '%'`, [id]);

describe('single sign-on that an organisation requires', () => {
  it('ends the sessions of people of the domain when its event arrives, but not of the break-glass person', async () => {
    const [member, owner] = [
      await signInAs(gateway.url, `ada@${domain}`),
      await signInAs(gateway.url, `eve@${domain}`),
    ];
    const event = gateway.context.newEvent(identityUpdated, settingsOf({ break_glass_user_id: owner.user.id }));
    await gateway.context.transaction((tx) => recordEventsIn(tx, [event]));
    await reaching(
      () => endingsOf(member.user.id),
      ({ length }) => length === 1,
    );
    await expect(member.client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    expect((await owner.client.getMe()).status).toBe(200);
    expect(await endingsOf(owner.user.id)).toEqual([]);
  });

  it('sends no code to any address of the domain, and accepts no code that was sent before', async () => {
    const client = clientOf(gateway.url);
    const { code = '' } = (await client.requestEmailCode({ body: { email: `ada@${domain}` } })).body;
    const { user: owner } = await signInAs(gateway.url, `eve@${domain}`);
    await receive(settingsOf({ break_glass_user_id: owner.id }));
    for (const email of [`ada@${domain}`, `nobody@${domain}`, `eve@${domain}`]) {
      await expect(client.requestEmailCode({ body: { email } })).rejects.toMatchObject(refusal);
      const body = { email, isLocal: true };
      await expect(sibling().sendSignInCode({ body })).rejects.toMatchObject(refusal);
      await expect(sibling().sendSignInCode({ body: { ...body, connection_id: 'other' } })).rejects.toMatchObject(
        refusal,
      );
    }
    const proof = { email: `ada@${domain}`, code };
    await expect(client.verifyEmailCode({ body: proof })).rejects.toMatchObject(refusal);
    await expect(sibling().proveAddress({ body: proof })).rejects.toMatchObject(refusal);
    expect(await rowsOf(database, 'SELECT FROM users WHERE email = $1', [proof.email])).toEqual([]);
    expect((await sibling().proveAddress({ body: { ...proof, connection_id: 'acme' } })).status).toBe(200);
    expect((await signInAs(gateway.url, `ada@sub.${domain}`)).user.email).toBe(`ada@sub.${domain}`);
  });

  it('permits only its connection, and a passkey only of the break-glass person', async () => {
    const [{ user: member }, { user: owner }] = [
      await signInAs(gateway.url, `ada@${domain}`),
      await signInAs(gateway.url, `eve@${domain}`),
    ];
    await receive(settingsOf({ break_glass_user_id: owner.id }));
    for (const { id } of [member, owner]) {
      expect((await authorize(id, 'acme')).status).toBe(200);
      await expect(authorize(id, 'other')).rejects.toMatchObject(refusal);
    }
    await expect(authorize(member.id, null)).rejects.toMatchObject(refusal);
    expect((await authorize(owner.id, null)).status).toBe(200);
    await expect(authorize(stranger, 'acme')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { user: unrelated } = await signInAs(gateway.url, `x${ulid().toLowerCase()}@elsewhere.example`);
    expect((await authorize(unrelated.id, null)).status).toBe(200);
  });

  it('refuses the code of an invite without accepting the invite', async () => {
    const admin = await signInAs(gateway.url, `x${ulid().toLowerCase()}@elsewhere.example`);
    const email = `ada@${domain}`;
    const { id } = admin.workspace;
    const { body } = await admin.client.createInvite({ params: { id }, body: { email, role: 'member' } });
    await receive(settingsOf());
    const accept = clientOf(gateway.url).acceptInvite({ params: { token: body.inviteToken }, body: { email } });
    await expect(accept).rejects.toMatchObject(refusal);
    expect(
      await rowsOf(database, 'SELECT FROM invites WHERE email = $1 AND accepted_at IS NULL', [email]),
    ).toHaveLength(1);
  });

  it('ends sessions again for a new connection or domain, and not for other changes', async () => {
    const { user } = await signInAs(gateway.url, `ada@${domain}`);
    const count = async () => (await endingsOf(user.id)).length;
    await receive(settingsOf({ sso_required: false }));
    await receive(settingsOf({ verified_domains: ['unrelated.example'] }));
    expect(await count()).toBe(0);
    await receive(settingsOf());
    await receive(settingsOf({ role_mappings: [{ group: 'Pilots', role: 'member' }] }));
    expect(await count()).toBe(1);
    await receive(settingsOf({ oidc_connection_id: 'next' }));
    expect(await count()).toBe(2);
  });

  it('ends the sessions of a person whose address moves into the domain', async () => {
    await receive(settingsOf());
    const { user, client } = await signInAs(gateway.url, `x${ulid().toLowerCase()}@elsewhere.example`);
    const person = {
      ...{ org_id: orgId, scim_user_id: ScimUserId.parse(`scu_${ulid()}`), access_epoch: 0, display_name: user.name },
      ...{ is_active: true, role: null, workspace_ids: [], granted_by: stranger },
    };
    const provision = (sequence: number, address: string) =>
      gateway.context.transaction((tx) => receivePerson(tx, gateway.context, { ...person, sequence, address }));
    await provision(1, String(user.email));
    expect((await client.getMe()).status).toBe(200);
    await provision(2, `ada@${domain}`);
    await expect(client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    expect(await endingsOf(user.id)).toHaveLength(1);
  });

  it('follows the newest settings, in whatever order they arrive', async () => {
    const [first, second] = [settingsOf(), settingsOf({ sso_required: false })];
    for (const settings of [second, first]) await receive(settings);
    expect((await signInAs(gateway.url, `ada@${domain}`)).user.email).toBe(`ada@${domain}`);
    await receive(settingsOf());
    const again = clientOf(gateway.url).requestEmailCode({ body: { email: `ada@${domain}` } });
    await expect(again).rejects.toMatchObject(refusal);
  });

  it('ends the session of a sign-in that was not committed when it became required', async () => {
    const email = `ada@${domain}`;
    const { user } = await signInAs(gateway.url, email);
    const { context } = gateway;
    let change: Promise<void> | undefined;
    const { token } = await context.transaction(async (tx) => {
      await requireSsoNow(tx, { email });
      change = receive(settingsOf());
      const waiting = `
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await reaching(
        () => rowsOf(database, waiting),
        ({ length }) => length > 0,
      );
      return openSession(tx, context, { user, knownAs: email, inviteId: null, requestId: 'req_1' });
    });
    await change;
    const late = clientOf(gateway.url, { authorization: `Bearer ${token}` });
    await expect(late.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });
});
