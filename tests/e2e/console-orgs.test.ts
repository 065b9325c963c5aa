import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { gatewayRoutes } from '@countersign/contracts/routes';
import { Authenticator } from '@countersign/testkit/authenticator';
import { verifies } from '@countersign/testkit/verifies';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, type Report } from './_tab.ts';

const address = addressBook();

const publicUrl = 'http://localhost:8080';
let system: SharedSystem;
let ada: Person;

type Members = Record<string, unknown>;

beforeAll(async () => {
  system = await sharedSystem();
});

let founders = 0;

beforeEach(async () => {
  ada = await personAt(system.gatewayUrl, address(`ada-${++founders}`));
});

const post = ({ tab }: Person, path: string, body: Members, headers: Record<string, string> = {}) =>
  tab.send(path, { method: 'POST', body, headers });
const bootstrap = (who: Person, name = 'Acme', key = 'boot') =>
  post(who, '/api/bootstrap', { name }, { 'idempotency-key': key });
const dataOf = ({ body }: Report) => body['data'] as Members[];

async function setupOf({ tab }: Person, workspaceId: unknown): Promise<Record<string, boolean>> {
  const { body } = await tab.send('/api/bootstrap', { headers: { 'x-workspace-id': String(workspaceId) } });
  const steps = body['steps'] as { step: string; done: boolean }[];
  return Object.fromEntries(steps.map(({ step, done }) => [step, done]));
}

async function keyOf({ client }: Person): Promise<string> {
  return (await client.createApiKey({ body: { name: 'agent' } as never })).body.key; // the schema adds defaults
}

/** A call of an agent with a key of the workspace. */
async function call(key: string, effect_level: string): Promise<Members> {
  const response = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'tool.call', tool: 'crm.read', effect_level, session_id: 'first' }),
  });
  return (await response.json()) as Members;
}

describe('an organisation', () => {
  verifies(
    'cp.bootstrap',
    "is made once, for any number of requests and keys, and owns the person's existing workspace",
    async () => {
      const [one, two] = await Promise.all([bootstrap(ada), bootstrap(ada)]);
      expect(one.status).toBe(201);
      expect(one.body).toMatchObject({ name: 'Acme', workspace_id: ada.workspaceId });
      expect(one.body['org_id']).toMatch(/^org_[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(two.body).toEqual(one.body);
      expect((await bootstrap(ada, 'Another', 'other')).body).toEqual(one.body);
      const listed = await ada.tab.send('/api/workspaces');
      expect(dataOf(listed)).toMatchObject([
        { workspace_id: ada.workspaceId, org_id: one.body['org_id'], role: 'owner' },
      ]);
    },
  );

  verifies(
    'cp.bootstrap',
    'has a workspace at the gateway that is a tenant of the kernel, with the starter policy and a budget',
    async () => {
      const { body } = await bootstrap(ada);
      const workspaceId = String(body['workspace_id']);
      const kernel = kernelClient(system, workspaceId);
      const budgets = (await kernel.listBudgets()).body.data;
      expect(budgets).toMatchObject([{ budget_id: 'ceiling.llm_month', spend_limit_minor: 10_000, currency: 'USD' }]);
      const { data: placed } = (await kernel.listReceipts({ query: { action: 'tenant.place' } })).body;
      expect(placed.map(({ payload }) => payload.resource)).toEqual([`tenant:${workspaceId}`]);
      expect((await ada.client.getWorkspace({ params: { id: workspaceId } })).body.id).toBe(workspaceId);
      const key = await keyOf(ada);
      expect(await call(key, 'E1')).toMatchObject({ verdict: 'ALLOW' });
      expect(await call(key, 'E4')).toMatchObject({ verdict: 'DENY' });
      const { data } = (await kernel.listReceipts({ query: { session_id: 'first' } })).body;
      expect(data.map(({ payload }) => [payload.tenant_id, payload.verdict])).toEqual([
        [workspaceId, 'DENY'],
        [workspaceId, 'ALLOW'],
      ]);
    },
  );

  verifies(
    'cp.bootstrap',
    'takes over a workspace without an organisation, or makes a new one, and reports its missing setup steps',
    async () => {
      const bob = await personAt(system.gatewayUrl, address('bob'));
      const own = bob.workspaceId;
      await bootstrap(ada);
      await call(await keyOf(ada), 'E1');
      await ada.client.createInvite({ params: { id: ada.workspaceId }, body: { email: address('x') } as never });
      expect(await setupOf(bob, own)).toEqual({
        // Every workspace starts with a monthly ceiling.
        ...{ org: false, budget: true, passkey: false, first_receipt: false, colleague: false, policy: false },
      });
      expect(await setupOf(ada, ada.workspaceId)).toEqual({
        ...{ org: true, budget: true, passkey: false, first_receipt: true, colleague: true, policy: false },
      });
      await enrol(ada);
      expect(await setupOf(ada, ada.workspaceId)).toMatchObject({ passkey: true });
      // The workspace has two owners. It belongs to the organisation of the first owner, so the second owner cannot
      // take it.
      const joined = await join(bob, ada);
      await ada.client.putMemberRole({ params: { id: joined, userId: await idOf(bob) }, body: { role: 'owner' } });
      expect((await bootstrap(bob, 'Bobs')).body).toMatchObject({ name: 'Bobs', workspace_id: own });
      const gil = await invitedOnly(address('gil'));
      const gils = (await bootstrap(gil, 'Gils')).body['workspace_id'];
      expect(dataOf(await gil.tab.send('/api/workspaces'))).toMatchObject([
        { workspace_id: ada.workspaceId, role: 'partner' },
        { workspace_id: gils, role: 'owner' },
      ]);
    },
  );

  it('gets more workspaces only from its founder, one per Idempotency-Key', async () => {
    const { body } = await bootstrap(ada);
    const headers = { 'idempotency-key': 'team' };
    const [one, two] = await Promise.all([1, 2].map(() => post(ada, '/api/v1/workspaces', { name: 'Team' }, headers)));
    expect(one?.body).toMatchObject({ name: 'Team', org_id: body['org_id'], role: 'owner' });
    expect(two?.body).toEqual(one?.body);
    const id = String(one?.body['workspace_id']);
    const { data } = (await kernelClient(system, id).listReceipts({ query: { action: 'tenant.place' } })).body;
    expect(data).toHaveLength(1);
    const max = await personAt(system.gatewayUrl, address('max'));
    expect(codeOf(await post(max, '/api/v1/workspaces', { name: 'Mine' }))).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await max.tab.send(`/api/v1/workspaces/${id}`))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a workspace', () => {
  it('is renamed by an owner who has read its current version', async () => {
    const place = `/api/workspaces/${ada.workspaceId}`;
    const rename = (name: string, headers: Record<string, string> = {}) =>
      ada.tab.send(place, { method: 'PUT', body: { name }, headers });
    const read = await ada.tab.send(`/api/v1/workspaces/${ada.workspaceId}`);
    const tag = { 'if-match': read.headers.get('etag') ?? '' };
    expect(codeOf(await rename('Blind'))).toEqual([428, 'PRECONDITION_REQUIRED']);
    const renamed = await rename('Operations', tag);
    expect([renamed.status, renamed.body['name']]).toEqual([200, 'Operations']);
    expect(codeOf(await rename('Late', tag))).toEqual([412, 'PRECONDITION_FAILED']);
    expect((await rename('Later', { 'if-match': renamed.headers.get('etag') ?? '' })).status).toBe(200);
    const { data } = (await ada.client.listAudit({ query: { action: 'workspace.renamed' } })).body;
    expect(data.map(({ details }) => details['name'])).toEqual(['Later', 'Operations']);
  });

  it('has members whom owners invite, promote, demote and remove', async () => {
    const place = `/api/workspaces/${ada.workspaceId}/members`;
    const eve = await personAt(system.gatewayUrl, address('eve'));
    const invited = await post(ada, place, { email: eve.email, role: 'partner' });
    expect([invited.status, invited.body['role']]).toEqual([201, 'partner']);
    const token = String(invited.body['invite_url']).split('/').at(-1) ?? '';
    await eve.client.acceptInvite({ params: { token }, body: { email: eve.email } });
    const evesId = await idOf(eve);
    const membersOf = async () => {
      const { body } = await ada.tab.send(`/api/v1/workspaces/${ada.workspaceId}`);
      return (body['members'] as Members[]).find(({ user_id }) => user_id === evesId)?.['role'];
    };
    expect(await membersOf()).toBe('partner');
    expect(codeOf(await post(eve, place, { email: address('more') }))).toEqual([403, 'PERMISSION_DENIED']);
    const change = (id: string, method: string, body?: Members) =>
      ada.tab.send(`${place}/${id}`, { method, ...(body === undefined ? {} : { body }) });
    expect((await change(evesId, 'PUT', { role: 'member' })).body).toEqual({ user_id: evesId, role: 'member' });
    expect(await membersOf()).toBe('member');
    expect((await change(evesId, 'DELETE')).body).toEqual({ removed: true });
    expect(await membersOf()).toBeUndefined();
    for (const id of [evesId, 'nobody', '..%2F..'])
      expect(codeOf(await change(id, 'DELETE'))).toEqual([404, 'NOT_FOUND']);
  });
});

async function idOf({ tab }: Person): Promise<string> {
  return String((await tab.send('/api/session')).body['user_id']);
}

/** A person who signed in by an invitation and has no workspace of their own. */
async function invitedOnly(email: string): Promise<Person> {
  const params = { id: ada.workspaceId };
  const { inviteToken: token } = (await ada.client.createInvite({ params, body: { email, role: 'partner' } as never }))
    .body;
  const anonymous = createClient(gatewayRoutes, { baseUrl: system.gatewayUrl });
  const { body } = await anonymous.acceptInvite({ params: { token }, body: { email } });
  const code = 'code' in body ? (body.code ?? '') : '';
  await anonymous.verifyEmailCode({ body: { email, code } });
  return personAt(system.gatewayUrl, email);
}

/** Makes the guest a partner in the host's workspace. Returns the id of the workspace. */
async function join(guest: Person, host: Person): Promise<string> {
  const params = { id: host.workspaceId };
  const body = { email: guest.email, role: 'partner' } as never;
  const { inviteToken: token } = (await host.client.createInvite({ params, body })).body;
  await guest.client.acceptInvite({ params: { token }, body: { email: guest.email } });
  return host.workspaceId;
}

/** Enrols a passkey as an operator does. */
async function enrol(who: Person): Promise<void> {
  const principal = await idOf(who);
  const headers = {
    authorization: `Bearer ${system.adminApiKey}`,
    'content-type': 'application/json',
    'x-gov-tenant-id': who.workspaceId,
    'x-gov-principal-id': principal,
  };
  const ask = async (step: string, body?: object) => {
    const place = new URL(`/api/v1/identity/operators/${principal}/webauthn/${step}`, system.kernelUrl);
    const sent = { method: 'POST', headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await (await fetch(place, sent)).json()) as Members;
  };
  const { challenge } = await ask('register');
  await ask('verify', { attestation: new Authenticator(publicUrl).create(String(challenge)) });
}
