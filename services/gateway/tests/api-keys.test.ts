import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyPrincipal, type AnyRoute } from '@countersign/contracts';
import {
  proveAddress,
  proveUser,
  sendSignInCode,
  sendUserCode,
  type ApiKeyScope,
  type Role,
} from '@countersign/contracts/gateway';
import { gatewayRoutes } from '@countersign/contracts/routes';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { isApiKey, looksLikeApiKey, newApiKey } from '../src/api-keys/secret.ts';
import { sweep } from '../src/workers/sweep.ts';
import {
  clientOf,
  contentOf,
  putMember,
  rowsOf,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type GatewayClient,
  type Person,
} from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let bob: Person;
let nowMs = Date.now();
const dayMs = 24 * 3_600_000;

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, { GOV_RUN_WORKERS: '0' });
  gateway = await startTestGateway(config, { now: () => new Date(nowMs) });
  // Bob signs in again, because his own workspace is his first one.
  bob = await signInAs(gateway.url, 'bob@example.org');
});

// Sessions are created again, because tests that move the clock end them.
beforeEach(async () => {
  nowMs += 3_600_000;
  ada = await signInAs(gateway.url, 'ada@example.org');
  bob = await signInAs(gateway.url, 'bob@example.org');
  await bobIs('member');
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const bobIs = (role: Role) => putMember(database, { workspaceId: ada.workspace.id, userId: bob.user.id, role });
/** Returns a client of Bob as a member of Ada's workspace. */
const bobAtAdas = () => clientOf(gateway.url, { ...bob.headers, 'x-workspace-id': ada.workspace.id });
const withKey = (key: string, more: Record<string, string> = {}) =>
  clientOf(gateway.url, { 'x-api-key': key, ...more });

type Wanted = {
  name?: string;
  role?: 'partner' | 'member';
  scopes?: ApiKeyScope[];
  expiresInDays?: number;
  replaces?: string;
};
const make = async (client: GatewayClient, body: Wanted = {}) =>
  (await client.createApiKey({ body: body as never })).body; // the gateway adds the defaults

const refused = { status: 401, code: 'CREDENTIALS_INVALID' };
const forbidden = { status: 403, code: 'PERMISSION_DENIED' };

describe('a key of a workspace', () => {
  verifies(
    'gw.auth.apikey',
    'works in X-API-Key and as a bearer, in its workspace alone, and is stored as a hash',
    async () => {
      const { key, ...made } = await make(ada.client, { name: 'ci' });
      expect(key).toMatch(/^hp_[0-9A-Za-z]{40}$/);
      expect(made).toMatchObject({
        name: 'ci',
        role: 'member',
        scopes: ['read', 'write', 'agent'],
        createdBy: ada.user.id,
      });
      expect(Date.parse(made.expiresAt) - nowMs).toBe(90 * dayMs);
      const { body: task } = await withKey(key).createTask({ body: { title: 'By key', description: '' } });
      expect(task).toMatchObject({ workspaceId: ada.workspace.id, createdBy: ada.user.id });
      const asBearer = clientOf(gateway.url, { authorization: `Bearer ${key}` });
      expect((await asBearer.listTasks()).body.data[0]?.id).toBe(task.id);
      const [entry] = (await ada.client.listAudit({ query: { action: 'task.created' } })).body.data;
      expect(entry).toMatchObject({ actor: keyPrincipal(made.id), subject: task.id });

      await expect(withKey(key, { 'x-workspace-id': bob.workspace.id }).listTasks()).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      const dump = JSON.stringify(await rowsOf(database, 'SELECT k.*, a.* FROM api_keys k, audit_entries a'));
      expect(dump).toContain(made.prefix);
      expect(dump).not.toContain(key);
    },
  );

  verifies('gw.auth.apikey', 'expires at its time, and is invalid at once when it is revoked', async () => {
    const short = await make(ada.client, { expiresInDays: 1 });
    const long = await make(ada.client, { expiresInDays: 365 });
    nowMs += dayMs - 1;
    await withKey(short.key).listTasks();
    nowMs += 1;
    ada = await signInAs(gateway.url, 'ada@example.org');
    await expect(withKey(short.key).listTasks()).rejects.toMatchObject(refused);
    await withKey(long.key).listTasks();
    await ada.client.revokeApiKey({ params: { id: long.id } });
    await expect(withKey(long.key).listTasks()).rejects.toMatchObject(refused);
    await expect(ada.client.revokeApiKey({ params: { id: long.id } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const expiresInDays of [0, 366, 1.5])
      await expect(make(ada.client, { expiresInDays })).rejects.toMatchObject({ status: 400 });
  });

  verifies(
    'gw.auth.apikey',
    'is listed to its creator and to an owner, with its last use, and never with its secret',
    async () => {
      bob = await signInAs(gateway.url, 'bob@example.org');
      const bobs = await make(bobAtAdas(), { name: "bob's" });
      const unused = (await bobAtAdas().listApiKeys()).body.data;
      expect(unused).toMatchObject([{ id: bobs.id, name: "bob's", lastUsedAt: null, revokedAt: null }]);
      expect(JSON.stringify(unused)).not.toContain(bobs.key);
      const firstUse = nowMs;
      await withKey(bobs.key).listTasks();
      nowMs += 59_000;
      await withKey(bobs.key).listTasks();
      const lastUse = async () =>
        (await ada.client.listApiKeys()).body.data.find(({ id }) => id === bobs.id)?.lastUsedAt;
      expect(Date.parse((await lastUse()) ?? '')).toBe(firstUse);
      nowMs += 2_000;
      await withKey(bobs.key).listTasks();
      expect(Date.parse((await lastUse()) ?? '')).toBe(nowMs);

      const adas = await make(ada.client);
      await expect(bobAtAdas().revokeApiKey({ params: { id: adas.id } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(make(bobAtAdas(), { replaces: adas.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(bob.client.revokeApiKey({ params: { id: bobs.id } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await ada.client.revokeApiKey({ params: { id: bobs.id } });
      await expect(withKey(bobs.key).listTasks()).rejects.toMatchObject(refused);
    },
  );

  it('stays valid for a day after it is replaced, and never longer than its own expiry', async () => {
    const old = await make(ada.client);
    const ending = await make(ada.client, { expiresInDays: 1 });
    nowMs += dayMs / 2;
    ada = await signInAs(gateway.url, 'ada@example.org');
    const heir = await make(ada.client, { replaces: old.id });
    await make(ada.client, { replaces: ending.id });
    nowMs += dayMs / 2;
    await withKey(old.key).listTasks();
    await expect(withKey(ending.key).listTasks()).rejects.toMatchObject(refused);
    nowMs += dayMs / 2;
    await expect(withKey(old.key).listTasks()).rejects.toMatchObject(refused);
    await withKey(heir.key).listTasks();
    ada = await signInAs(gateway.url, 'ada@example.org');
    await expect(make(ada.client, { replaces: old.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('opens only the routes of its scopes', async () => {
    const [reader, writer, agent] = await Promise.all(
      (['read', 'write', 'agent'] as const).map(async (scope) =>
        withKey((await make(ada.client, { scopes: [scope] })).key),
      ),
    );
    const body = { title: 'Scoped', description: '' };
    await reader?.listTasks();
    await writer?.createTask({ body });
    for (const attempt of [
      reader?.createTask({ body }),
      writer?.listTasks(),
      agent?.listTasks(),
      agent?.createTask({ body }),
    ])
      await expect(attempt).rejects.toMatchObject(forbidden);
    await expect(make(ada.client, { scopes: [] })).rejects.toMatchObject({ status: 400 });
    await expect(make(ada.client, { scopes: ['read', 'read'] })).rejects.toMatchObject({ status: 400 });
  });
});

describe('the rights of a key', () => {
  it('never exceed the current rights of its creator, and end with the membership', async () => {
    bob = await signInAs(gateway.url, 'bob@example.org');
    await expect(make(bobAtAdas(), { role: 'partner' })).rejects.toMatchObject(forbidden);
    await bobIs('partner');
    const { key } = await make(bobAtAdas(), { role: 'partner' });
    const roleIn = async () => {
      const [denial] = (await ada.client.listAudit({ query: { action: 'put-workspace-mode' } })).body.data;
      return denial?.details['role'];
    };
    const actAsOwner = () =>
      withKey(key).putWorkspaceMode({ params: { id: ada.workspace.id }, body: { mode: 'build' } });
    await expect(actAsOwner()).rejects.toMatchObject(forbidden);
    expect(await roleIn()).toBe('partner');
    await bobIs('member');
    await expect(actAsOwner()).rejects.toMatchObject(forbidden);
    expect(await roleIn()).toBe('member');
    await ada.client.removeMember({ params: { id: ada.workspace.id, userId: bob.user.id } });
    await expect(withKey(key).listTasks()).rejects.toMatchObject(refused);
    await bobIs('member');
    await expect(withKey(key).listTasks()).rejects.toMatchObject(refused);
  });

  it('include routes of members and partners, and exclude those that require a person', async () => {
    const { key } = await make(ada.client, { role: 'partner' });
    const before = await contentOf(database);
    const closed: string[] = [];
    const siblings = await Promise.all(
      [sendSignInCode, proveAddress, sendUserCode, proveUser].map((route) => statusWith(route, key)),
    );
    expect(siblings).toEqual([401, 401, 401, 401]);
    const apart: AnyRoute['auth'][] = ['public', 'service_internal'];
    for (const route of Object.values<AnyRoute>(gatewayRoutes).filter(({ auth }) => !apart.includes(auth))) {
      const status = await statusWith(route, key);
      const isOfOwners = route.auth === 'owner' || route.auth === 'session';
      if (status === 403 && !isOfOwners) closed.push(route.operation);
      // The gateway refuses malformed requests before it checks the rights of the caller.
      const expected = isOfOwners ? [400, 403].includes(status) : ![401, 500].includes(status);
      expect([route.operation, status, expected]).toEqual([route.operation, status, true]);
    }
    expect(closed.sort()).toEqual(closedToKeys);
    const { audit_entries: _, ...after } = await contentOf(database);
    expect(after).toMatchObject({
      api_keys: before['api_keys'],
      invites: before['invites'],
      workspace_members: before['workspace_members'],
    });
  });

  it('are not granted to a request with a second credential, and a mistyped key is refused before any query', async () => {
    const { key } = await make(ada.client);
    await withKey(key, { authorization: `Bearer ${key}` }).listTasks();
    const mistaken: Record<string, string>[] = [
      { 'x-api-key': key, authorization: `Bearer ${ada.token}` },
      { 'x-api-key': ada.token, authorization: `Bearer ${key}` },
      { 'x-api-key': `${key}0` },
      { 'x-api-key': `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}` },
      { 'x-api-key': '' },
      { 'x-api-key': 'hp_ x' },
    ];
    for (const headers of mistaken)
      await expect(clientOf(gateway.url, headers).listTasks()).rejects.toMatchObject(refused);
    const made = newApiKey();
    expect([isApiKey(made), looksLikeApiKey(made), looksLikeApiKey(made.replace('hp_', 'ph_'))]).toEqual([
      true,
      true,
      false,
    ]);
    const swapped = made.slice(0, 3) + [...made.slice(3)].reverse().join('');
    expect(looksLikeApiKey(swapped)).toBe(false);
  });

  it('belong to at most 100 keys of a workspace, also when many are created at once', async () => {
    const [{ count } = { count: 0 }] = await rowsOf<{ count: number }>(
      database,
      'SELECT count(*)::int FROM api_keys WHERE workspace_id = $1 AND revoked_at IS NULL AND expires_at > $2',
      [ada.workspace.id, new Date(nowMs)],
    );
    await rowsOf(
      database,
      `INSERT INTO api_keys (id, workspace_id, user_id, name, prefix, key_hash, role, scopes, created_at, expires_at)
       SELECT 'hpk_' || lpad(n::text, 26, '0'), $1, $2, 'filled', 'hp_', 'filled-' || n, 'member', '{read}', now(), $3
       FROM generate_series(1, $4) n`,
      [ada.workspace.id, ada.user.id, new Date(nowMs + dayMs), 98 - count],
    );
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => make(ada.client)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    nowMs += 31 * dayMs + dayMs + 1;
    await sweep(gateway.context);
    expect(
      await rowsOf(database, `SELECT 1 FROM api_keys WHERE name = 'filled' AND workspace_id = $1`, [ada.workspace.id]),
    ).toEqual([]);
  });
});

/** Routes of members and partners that need a signed-in person. */
const closedToKeys = ['create-api-key', 'leave-workspace', 'resolve-workspace-approval', 'revoke-api-key'];

const bodies: Record<string, object> = {
  'create-task': { title: 'A task' },
  'start-run': { title: 'A task' },
  'put-workspace': { name: 'Another' },
  'put-task-status': { status: 'queued' },
  'put-workspace-mode': { mode: 'build' },
  'put-workspace-settings': {},
  'resolve-workspace-approval': { status: 'approved' },
  'create-api-key': {},
  'create-invite': { email: 'invited@example.org' },
  'put-member-role': { role: 'member' },
};

async function statusWith(route: AnyRoute, key: string): Promise<number> {
  const isOfWorkspace = route.path.startsWith('/api/workspace/');
  const path = route.path.replace(/\{\w+\}/, isOfWorkspace ? ada.workspace.id : 'x').replace(/\{\w+\}/, 'x');
  const sent = route.body !== undefined || route.method === 'POST';
  const response = await fetch(new URL(path, gateway.url), {
    method: route.method,
    headers: { 'x-api-key': key, ...(sent && { 'content-type': 'application/json' }) },
    ...(sent && { body: JSON.stringify(bodies[route.operation] ?? {}) }),
  });
  // A stream does not end by itself.
  await response.body?.cancel();
  return response.status;
}
