import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ApiKeyId,
  ApiKeyScope,
  Instant,
  isAppError,
  keyPrincipal,
  PrincipalId,
  UserId,
  WorkspaceId,
  type AnyRoute,
} from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { commercialRoutes } from '@countersign/contracts/routes';
import type { AssertedKey } from '@countersign/service-kit';
import { until } from '@countersign/testkit/until';
import { findOrgOfWorkspace } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const ulid = (mark: string) => mark.repeat(26);
const [owner, stranger] = [UserId.parse(`usr_${ulid('1')}`), UserId.parse(`usr_${ulid('2')}`)];
const [org, second] = [OrgId.parse(`org_${ulid('1')}`), OrgId.parse(`org_${ulid('2')}`)];
const [workspaceId, sister] = [WorkspaceId.parse(`wsp_${ulid('1')}`), WorkspaceId.parse(`wsp_${ulid('2')}`)];
const foreign = WorkspaceId.parse(`wsp_${ulid('3')}`);
const keyId = ApiKeyId.parse(`hpk_${ulid('1')}`);
const created_at = Instant.parse('2026-11-01T00:00:00.000Z');

const entries: [string, AnyRoute][] = Object.entries(commercialRoutes);
const routes = entries.filter(([, { auth, path }]) => auth === 'commercial' && path.startsWith('/api/basic/'));
const forPeople = routes.filter(([, { keyScopes }]) => keyScopes === undefined);
const forKeys = routes.filter(([, { keyScopes }]) => keyScopes !== undefined);

let site: CommercialSite;

beforeAll(async () => {
  site = await startCommercialSite({
    before: ({ orgs, workspaces }) => {
      orgs.push({ org_id: org, name: 'Own', admin_id: owner, created_at });
      orgs.push({ org_id: second, name: 'Other', admin_id: stranger, created_at });
      for (const id of [workspaceId, sister]) workspaces.push({ workspace_id: id, org_id: org, added_at: created_at });
      workspaces.push({ workspace_id: foreign, org_id: second, added_at: created_at });
    },
  });
  const { reader } = site.gateway.context.database;
  await until(async () => (await findOrgOfWorkspace(reader, foreign)) !== null);
});

beforeEach(() => {
  site.directory.atGateway.length = 0;
  site.directory.gatewayReply = () => ({ status: 500, body: {} });
});

afterAll(() => site.stop());

const key = (more: Partial<AssertedKey> = {}): AssertedKey => ({
  sub: PrincipalId.parse(keyPrincipal(keyId, 'prod')),
  sponsor: owner,
  workspace_id: workspaceId,
  role: 'partner',
  scopes: [...ApiKeyScope.options],
  ...more,
});
const personIn = (role: 'member' | 'owner' = 'owner', place = workspaceId) => ({
  ...{ sub: owner, workspace_id: place, role },
});

async function refusalOf(client: CommercialClient, [name, { method }]: [string, AnyRoute]): Promise<unknown> {
  const call = client[name as keyof CommercialClient] as (input: unknown) => Promise<{ status: number }>; // the name is a key of the client
  const params = { approval_id: `apr_${ulid('1')}`, key_id: keyId };
  try {
    return (await call({ params, ...(method === 'POST' ? { body: {} } : {}) })).status;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return [error.details?.['status'], error.code, error.message];
  }
}

const forbidden = (message: string) => [403, 'PERMISSION_DENIED', message];

describe('an API key at the basic API', () => {
  it.each(forPeople)('is refused by %s, whatever its scopes', async (...entry) => {
    const message = 'API keys cannot use this route. Sign in as a person';
    expect(await refusalOf(await site.asKey(key()), entry)).toEqual(forbidden(message));
    expect(site.directory.atGateway).toEqual([]);
  });

  it.each(forKeys)('is refused by %s without a scope of that route', async (...entry) => {
    const { keyScopes = [] } = entry[1];
    const scopes = ApiKeyScope.options.filter((scope) => !keyScopes.includes(scope));
    const message = `This needs a key with the scope ${keyScopes.join(' or ')}`;
    expect(await refusalOf(await site.asKey(key({ scopes })), entry)).toEqual(forbidden(message));
    expect(site.directory.atGateway).toEqual([]);
  });

  const ofPartners = forKeys.filter(([, { leastRole }]) => leastRole === 'partner');

  it.each(ofPartners)('is refused by %s when the role of the key is member', async (...entry) => {
    const message = 'This needs the role partner in a workspace';
    expect(await refusalOf(await site.asKey(key({ role: 'member' })), entry)).toEqual(forbidden(message));
  });

  it('cannot approve, commit, create keys, invite or publish', () => {
    const names = forPeople.map(([name]) => name);
    for (const name of ['resolveBasicApproval', 'approveBasicPlan', 'commitBasicPlan', 'createBasicKey'])
      expect(names).toContain(name);
    for (const name of ['revokeBasicKey', 'createBasicMember', 'createBasicWorkspace', 'createBasicEvidence'])
      expect(names).toContain(name);
  });

  it('cannot use routes for people outside the basic API', async () => {
    const client = await site.asKey(key());
    await expect(client.getIdentity({ query: { org_id: org } })).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });
});

it.each(routes)('%s refuses assertions for another service and callers without a delegation', async (...entry) => {
  expect(await refusalOf(await site.asKey(key(), 'control-plane'), entry)).toMatchObject({ 0: 401 });
  expect(await refusalOf(await site.asAtControlPlane(owner), entry)).toMatchObject({ 0: 401 });
  expect(await refusalOf(site.anonymous, entry)).toMatchObject({ 0: 401 });
  expect(await refusalOf(site.sibling, entry)).toMatchObject({ 0: 401 });
  expect(await refusalOf(await site.as(owner), entry)).toMatchObject({ 0: 401 });
});

describe('a person at the basic API', () => {
  const ofOwners = routes.filter(([, { leastRole }]) => leastRole === 'owner');

  it.each(ofOwners)('needs the same role for %s as at the gateway', async (...entry) => {
    const message = 'This needs the role owner in a workspace';
    expect(await refusalOf(await site.asBasic(personIn('member')), entry)).toEqual(forbidden(message));
    expect(await refusalOf(await site.asBasic({ sub: owner }), entry)).toEqual(forbidden(message));
  });

  const fresh = routes.filter(([, { needsPresence }]) => needsPresence === true);

  it.each(fresh)('must prove presence for %s as at the gateway', async (...entry) => {
    const late = await site.asBasic(personIn(), 600);
    expect(await refusalOf(late, entry)).toMatchObject({ 0: 401, 1: 'REAUTHENTICATION_REQUIRED' });
    expect(site.directory.atGateway).toEqual([]);
  });

  it('must prove presence to commit, create keys, invite, publish and subscribe', () => {
    const names = ['commitBasicPlan', 'createBasicEvidence', 'createBasicKey', 'createBasicMember'];
    expect(fresh.map(([name]) => name).sort()).toEqual([...names, 'putBasicSubscription']);
  });
});

describe('a call to the gateway', () => {
  it('has only the delegation, workspace, precondition and idempotency key of the request as headers', async () => {
    const client = await site.asKey(key());
    const body = { title: 'A leak', severity: 'high', category: 'conduct', note: 'seen', receipts: [] } as const;
    const headers = { 'idempotency-key': 'once', 'if-match': '"3"', 'x-workspace-id': foreign, 'x-other': 'no' };
    await client.createBasicIncident({ body: { ...body, receipts: [] }, headers }).catch(() => undefined);
    expect(site.directory.atGateway).toMatchObject([{ method: 'POST', url: '/api/ops/incidents' }]);
    const sent = site.directory.atGateway[0]?.headers;
    expect(sent).toMatchObject({ 'idempotency-key': '"once"', 'if-match': '"3"', 'x-workspace-id': workspaceId });
    expect(sent).not.toHaveProperty('x-other');
    expect(sent?.authorization).toMatch(/^Bearer ey/);
  });

  it('passes on a refusal of the gateway, and reports a refused delegation or an invalid answer as an outage', async () => {
    const client = await site.asBasic(personIn());
    const refuse = (code: string, status: number) => {
      const error = {
        code,
        message: 'No',
        type: 'not_found_error',
        param: null,
        request_id: 'req_1',
        retryable: false,
      };
      site.directory.gatewayReply = () => ({ status, body: { error } });
    };
    const list = () => client.listBasicMembers();
    refuse('NOT_FOUND', 404);
    await expect(list()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    refuse('CREDENTIALS_INVALID', 401);
    await expect(list()).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
    site.directory.gatewayReply = () => ({ status: 200, body: { nonsense: true } });
    await expect(list()).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
  });
});

describe('projects and environments', () => {
  const listed = async (client: CommercialClient, query: object) => (await client.listProjects({ query: query })).body;

  it('group workspaces of one organisation under a unique name, and an API key sees only its own workspace', async () => {
    const admin = await site.asBasic({ sub: owner });
    const body = { org_id: org, name: 'Payments', workspace_ids: [sister, workspaceId] };
    const { body: project } = await admin.createProject({ body });
    expect(project).toMatchObject({ org_id: org, workspace_ids: [workspaceId, sister], created_by: owner });
    await expect(admin.createProject({ body })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const taking = { ...body, name: 'Foreign', workspace_ids: [foreign] };
    await expect(admin.createProject({ body: taking })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { body: empty } = await admin.createProject({ body: { ...body, name: 'Empty', workspace_ids: [] } });
    const first = await listed(admin, { org_id: org, limit: 1 });
    expect(first.data).toEqual([empty]);
    expect((await listed(admin, { org_id: org, cursor: first.next_cursor })).data).toEqual([project]);
    const byKey = await site.asKey(key());
    expect((await listed(byKey, {})).data).toEqual([{ ...project, workspace_ids: [workspaceId] }]);
    const outsider = await site.asBasic({ sub: stranger });
    await expect(listed(outsider, { org_id: org })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(listed(byKey, { org_id: second })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(listed(admin, {})).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'org_id' });
    expect((await listed(outsider, { org_id: second })).data).toEqual([]);
    const joining = { body: { name: 'Mine', project_id: project.project_id } };
    await expect(outsider.createBasicWorkspace(joining)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(site.directory.atGateway).toEqual([]);
  });

  it('let a person open an environment once, and create keys only for open environments', async () => {
    const client = await site.asBasic(personIn());
    const request = { name: 'ci', role: 'member', environment: 'prod', expires_in_days: 1 } as const;
    const making = () => client.createBasicKey({ body: { ...request, scopes: ['basic:read'] } });
    await expect(making()).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'environment' });
    expect(site.directory.atGateway).toEqual([]);
    const body = { environment: 'prod', description: 'Customers' } as const;
    const { body: opened } = await client.createEnvironment({ body });
    expect(opened).toMatchObject({ ...body, workspace_id: workspaceId, principals: 'key:prod:*', created_by: owner });
    await expect(client.createEnvironment({ body })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await (await site.asKey(key())).listEnvironments()).body.data).toEqual([opened]);
    const elsewhere = await site.asBasic(personIn('owner', sister));
    expect((await elsewhere.listEnvironments()).body.data).toEqual([]);
    await making().catch(() => undefined);
    expect(site.directory.atGateway.map(({ url }) => url)).toEqual(['/api/auth/apikey']);
  });
});
