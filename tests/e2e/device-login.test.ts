import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import { gatewayRoutes } from '@countersign/contracts/routes';
import { verifies } from '@countersign/testkit/verifies';
import * as oauth from 'openid-client';
import { untilAnswered } from '@countersign/testkit/until';
import { SignInSystem } from './_sign-in-system.ts';
import type { Tab } from './_tab.ts';

const minuteMs = 60_000;
let system: SignInSystem;

beforeAll(async () => {
  system = await SignInSystem.start();
});

afterAll(() => system?.stop());

beforeEach(() => {
  system.aheadMs = 0;
});

type Report = { status: number; body: Record<string, unknown> };

async function post(path: string, form: Record<string, string>): Promise<Report> {
  const response = await fetch(new URL(path, system.gateway.url), { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Report['body'] }; // the caller checks the members
}

const client_id = 'countersign-cli';
const begin = async (more: Record<string, string> = {}) =>
  (await post('/api/auth/device/code', { client_id, ...more })).body as Record<'device_code' | 'user_code', string>;
const poll = (device_code: string, more: Record<string, string> = {}) =>
  post('/api/auth/device/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code,
    client_id,
    ...more,
  });
const renew = (refresh_token: unknown, client = client_id) =>
  post('/api/auth/device/token', {
    grant_type: 'refresh_token',
    refresh_token: String(refresh_token),
    client_id: client,
  });
const refused = (error: string) => ({ status: 400, body: { error, error_description: expect.any(String) } });

async function workspacesOf(tab: Tab): Promise<{ id: string; role: string }[]> {
  return (await tab.send('/api/me')).body['workspaces'] as { id: string; role: string }[];
}

/** A person at a browser, with their own workspace. */
async function person() {
  const { tab, email } = await system.signedIn();
  const [own] = await workspacesOf(tab);
  return { tab, email, workspaceId: own?.id ?? '' };
}

const decide = (tab: Tab, userCode: string, body: Record<string, unknown>) =>
  tab.send(`/api/auth/device/${userCode}/decide`, { method: 'POST', body });

async function asProgram(token: unknown, path: string, headers: Record<string, string> = {}): Promise<Report> {
  const authorization = `Bearer ${String(token)}`;
  const response = await fetch(new URL(path, system.gateway.url), { headers: { authorization, ...headers } });
  return { status: response.status, body: (await response.json()) as Report['body'] };
}

/** The tokens of a program that this person admitted. */
async function letIn({ tab, workspaceId }: { tab: Tab; workspaceId: string }, scope = 'owner') {
  const begun = await begin({ scope });
  const answered = await decide(tab, begun.user_code, { decision: 'approve', workspace_id: workspaceId });
  expect(answered.status).toBe(200);
  return (await poll(begun.device_code)).body;
}

describe('a program that asks for access', () => {
  it('may send unknown parameters and empty ones, and gets an error for an unsupported grant', async () => {
    const begun = await begin({ audience: 'https://api.example', workspace_id: '' });
    expect(await poll(begun.device_code, { resource: 'x' })).toEqual(refused('authorization_pending'));
    const ask = (form: Record<string, string>) => post('/api/auth/device/token', { client_id, ...form });
    expect(await ask({ grant_type: 'password' })).toEqual(refused('unsupported_grant_type'));
    expect(await ask({})).toEqual(refused('invalid_request'));
    expect(await ask({ grant_type: 'refresh_token' })).toEqual(refused('invalid_request'));
  });

  verifies(
    'cp.device',
    'is admitted by a person who confirms the shown code, with any client of RFC 8628',
    async () => {
      const { tab, workspaceId } = await person();
      const metadata = {
        issuer: system.gateway.url,
        device_authorization_endpoint: `${system.gateway.url}/api/auth/device/code`,
        token_endpoint: `${system.gateway.url}/api/auth/device/token`,
      };
      const client = new oauth.Configuration(metadata, client_id, undefined, oauth.None());
      oauth.allowInsecureRequests(client);
      const begun = await oauth.initiateDeviceAuthorization(client, { scope: 'partner' });
      expect(begun).toMatchObject({ expires_in: 600, interval: 5 });
      expect(begun.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      expect(await poll(begun.device_code)).toEqual(refused('authorization_pending'));
      const shown = await tab.send(`/api/auth/device/${begun.user_code.toLowerCase().replace('-', ' ')}`);
      expect(shown.body).toMatchObject({
        client: client_id,
        address: '127.0.0.1',
        role: 'partner',
        workspace_id: null,
      });
      const answer = { decision: 'approve', workspace_id: workspaceId };
      expect((await decide(tab, begun.user_code, answer)).body).toMatchObject({ role: 'partner', client: client_id });
      const tokens = await oauth.pollDeviceAuthorizationGrant(client, { ...begun, interval: 0 });
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'partner' });
      expect((await asProgram(tokens.access_token, '/api/tasks')).status).toBe(200);
      const renewed = await oauth.refreshTokenGrant(client, tokens.refresh_token ?? '');
      expect((await asProgram(renewed.access_token, '/api/tasks')).status).toBe(200);
    },
  );

  verifies(
    'cp.device',
    'changes tasks and starts their runs, but admits no person or program and casts no vote',
    async () => {
      const marked = Object.values(gatewayRoutes).filter((route: AnyRoute) => route.opensToPrograms === true);
      expect(marked.map(({ operation }) => operation).sort()).toEqual(
        // `check-resolver` changes nothing. It only reads who may decide.
        ['check-resolver', 'create-task', 'delete-task', 'put-task', 'put-task-status', 'run-task'].sort(),
      );
      const { tab, workspaceId } = await person();
      const { access_token: token } = await letIn({ tab, workspaceId }, 'owner');
      const headers = { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' };
      const send = async (path: string, method: string, body: object) => {
        const sent = { method, headers: { ...headers, 'x-workspace-id': workspaceId }, body: JSON.stringify(body) };
        return (await fetch(new URL(path, system.gateway.url), sent)).status;
      };
      const friend = { email: 'friend@example.org', role: 'partner' };
      expect(await send(`/api/workspace/${workspaceId}/invite`, 'POST', friend)).toBe(403);
      expect(await send(`/api/workspace/${workspaceId}/settings`, 'PUT', {})).toBe(403);
      expect(await send(`/api/workspace/${workspaceId}/mode`, 'PUT', { mode: 'build' })).toBe(403);
      expect(await send('/api/tasks', 'POST', { title: 'A letter' })).toBe(201);
    },
  );

  verifies('cp.device', 'can use one workspace within its role, while the person is a member', async () => {
    const ada = await person();
    const bob = await person();
    const { access_token: token } = await letIn(ada, 'member');
    const from = (workspaceId: string) => asProgram(token, '/api/tasks', { 'x-workspace-id': workspaceId });
    expect((await from(ada.workspaceId)).status).toBe(200);
    const [foreign, unknown] = [await from(bob.workspaceId), await from(`wsp_${'0'.repeat(26)}`)];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect((await asProgram(token, `/api/workspace/${ada.workspaceId}/settings`)).status).toBe(200);
    expect((await asProgram(token, `/api/workspace/${ada.workspaceId}/invites`)).status).toBe(403);
    for (const path of ['/api/me', '/api/session', '/api/auth/sessions'])
      expect((await asProgram(token, path)).status).toBe(403);
  });

  it('leaves no error report in another workspace of its person', async () => {
    const [ada, bob] = [await person(), await person()];
    const sent = { method: 'POST', body: { email: bob.email, role: 'member' } };
    const invited = await ada.tab.send(`/api/workspace/${ada.workspaceId}/invite`, sent);
    const accept = `/api/auth/invite/${String(invited.body['inviteToken'])}`;
    await bob.tab.send(accept, { method: 'POST', body: { email: bob.email } });
    const { access_token: token } = await letIn(bob, 'member');
    const headers = { 'x-workspace-id': ada.workspaceId, 'x-request-id': 'a-program-elsewhere' };
    expect((await asProgram(token, '/api/tasks', headers)).status).toBe(404);
    const reportIn = ({ tab, workspaceId }: { tab: Tab; workspaceId: string }) =>
      tab.send('/api/reports/a-program-elsewhere', { headers: { 'x-workspace-id': workspaceId } });
    await untilAnswered(async () => (await reportIn(bob)).status === 200);
    expect((await reportIn(ada)).status).toBe(404);
  });

  verifies('cp.device', 'gets no more rights than the person has, and only workspaces of that person', async () => {
    const [ada, bob] = [await person(), await person()];
    const invited = await ada.tab.send(`/api/workspace/${ada.workspaceId}/invite`, {
      method: 'POST',
      body: { email: bob.email, role: 'member' },
    });
    const accept = `/api/auth/invite/${String(invited.body['inviteToken'])}`;
    expect((await bob.tab.send(accept, { method: 'POST', body: { email: bob.email } })).status).toBe(200);
    const begun = await begin({ scope: 'owner' });
    const theirs = { decision: 'approve', workspace_id: (await person()).workspaceId };
    expect((await decide(bob.tab, begun.user_code, theirs)).status).toBe(404);
    const shared = { decision: 'approve', workspace_id: ada.workspaceId };
    expect((await decide(bob.tab, begun.user_code, shared)).body).toMatchObject({ role: 'member' });
    const tokens = (await poll(begun.device_code)).body;
    expect(tokens).toMatchObject({ scope: 'member', workspace_id: ada.workspaceId });
    const tasksIn = (id: string) => asProgram(tokens['access_token'], '/api/tasks', { 'x-workspace-id': id });
    expect((await tasksIn(ada.workspaceId)).status).toBe(200);
    // This is the person's own workspace, and not the one of the program.
    expect((await tasksIn(bob.workspaceId)).status).toBe(404);
    const bound = await begin({ workspace_id: bob.workspaceId });
    expect((await decide(bob.tab, bound.user_code, shared)).status).toBe(404);
  });

  verifies(
    'cp.device',
    'gets the errors of RFC 8628: too fast, denied, expired, used, or of another client',
    async () => {
      const ada = await person();
      const fast = await begin();
      expect(await poll(fast.device_code)).toEqual(refused('authorization_pending'));
      expect(await poll(fast.device_code)).toEqual(refused('slow_down'));
      system.aheadMs += 6_000;
      expect(await poll(fast.device_code)).toEqual(refused('slow_down'));
      system.aheadMs += 16_000;
      expect(await poll(fast.device_code)).toEqual(refused('authorization_pending'));
      expect((await decide(ada.tab, fast.user_code, { decision: 'deny' })).status).toBe(200);
      expect(await poll(fast.device_code)).toEqual(refused('access_denied'));
      expect((await decide(ada.tab, fast.user_code, { decision: 'deny' })).status).toBe(404);
      const late = await begin();
      system.aheadMs += 11 * minuteMs;
      expect(await poll(late.device_code)).toEqual(refused('expired_token'));
      expect((await ada.tab.send(`/api/auth/device/${late.user_code}`)).status).toBe(404);
      system.aheadMs = 0;
      const begun = await begin();
      const approve = { decision: 'approve', workspace_id: ada.workspaceId };
      await decide(ada.tab, begun.user_code, approve);
      expect(await poll(begun.device_code, { client_id: 'another' })).toEqual(refused('invalid_grant'));
      expect((await poll(begun.device_code)).status).toBe(200);
      expect(await poll(begun.device_code)).toEqual(refused('invalid_grant'));
      expect(await poll('cdc_unknown')).toEqual(refused('invalid_grant'));
    },
  );

  it('gets one pair of tokens, even for simultaneous requests', async () => {
    const ada = await person();
    const begun = await begin();
    await decide(ada.tab, begun.user_code, { decision: 'approve', workspace_id: ada.workspaceId });
    const messages = await Promise.all(Array.from({ length: 10 }, () => poll(begun.device_code)));
    expect(messages.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('gets no token if the session of the person who admitted it has ended', async () => {
    const ada = await person();
    const begun = await begin();
    await decide(ada.tab, begun.user_code, { decision: 'approve', workspace_id: ada.workspaceId });
    await ada.tab.send('/api/session', { method: 'DELETE' });
    expect(await poll(begun.device_code)).toEqual(refused('access_denied'));
  });

  it('loses its session when a refresh token is used twice, and its refresh tokens work for no other client', async () => {
    const ada = await person();
    const tokens = await letIn(ada);
    const next = (await renew(tokens['refresh_token'])).body;
    expect((await asProgram(next['access_token'], '/api/tasks')).status).toBe(200);
    expect(await renew(next['refresh_token'], 'another')).toEqual(refused('invalid_grant'));
    system.aheadMs += minuteMs;
    expect(await renew(tokens['refresh_token'])).toEqual(refused('invalid_grant'));
    expect((await asProgram(next['access_token'], '/api/tasks')).status).toBe(401);
    expect(await renew(next['refresh_token'])).toEqual(refused('invalid_grant'));
  });

  it('can do nothing with a token of another kind', async () => {
    const tokens = await letIn(await person());
    const cookie = `countersign=${String(tokens['access_token'])}`;
    const response = await fetch(new URL('/api/me', system.gateway.url), { headers: { cookie } });
    expect(response.status).toBe(401);
    expect((await asProgram(tokens['refresh_token'], '/api/tasks')).status).toBe(401);
    system.aheadMs += 16 * minuteMs;
    expect((await asProgram(tokens['access_token'], '/api/tasks')).status).toBe(401);
  });
});

describe('a person who guesses device codes', () => {
  it('is rate limited, and so is an address with many people', async () => {
    const limited = await SignInSystem.start({ controlPlane: { GOV_RATE_LIMITS: '1', GOV_RATE_LIMIT_AUTH: '6' } });
    try {
      const [one, another] = [(await limited.signedIn()).tab, (await limited.signedIn()).tab];
      const guess = async (tab: Tab) => (await tab.send('/api/auth/device/BCDF-GHJK')).status;
      for (let tries = 0; tries < 3; tries += 1) expect([await guess(one), await guess(another)]).toEqual([404, 404]);
      expect([await guess(one), await guess(another)]).toEqual([429, 429]);
    } finally {
      await limited.stop();
    }
  });
});
