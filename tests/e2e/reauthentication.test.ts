import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pathParams, urlOf, type AnyRoute } from '@countersign/contracts';
import { controlPlaneRoutes, forwarding, gatewayRoutes } from '@countersign/contracts/routes';
import { verifies } from '@countersign/testkit/verifies';
import { SignInSystem } from './_sign-in-system.ts';
import type { Tab } from './_tab.ts';

const minuteMs = 60_000;
let system: SignInSystem;

beforeAll(async () => {
  system = await SignInSystem.start();
}, 120_000);

afterAll(() => system?.stop(), 60_000);

beforeEach(() => {
  system.aheadMs = 0;
});

const routes = [
  ...Object.values<AnyRoute>({ ...controlPlaneRoutes, ...gatewayRoutes }),
  ...forwarding.map(({ route }) => route),
].filter(({ needsPresence }) => needsPresence === true);

async function proveAgain(tab: Tab) {
  const { body } = await tab.send('/api/auth/reauth/begin', { method: 'POST', body: {} });
  const { login_id, code } = body;
  return tab.send('/api/auth/reauth/finish', { method: 'POST', body: { login_id, code } });
}

/** The gateway reads a request, to know its workspace, before it asks how fresh the proof is. */
const bodies: Record<string, object> = {
  'put-workspace': { name: 'Renamed' },
  'put-workspace-mode': { mode: 'build' },
  'put-member-role': { role: 'member' },
  'create-subscription': { channel: 'webhook', target: 'https://hooks.example.org/', eventTypes: ['run.ended'] },
  'create-invite': { email: 'invited@example.org' },
  'create-api-key': { name: 'made late' },
  'create-access-key': { kind: 'agent', principal_id: 'made-late' },
};
const bodyOf = ({ operation, method }: AnyRoute) =>
  method === 'POST' || method === 'PUT' ? { body: bodies[operation] ?? {} } : {};
const errorOf = ({ body }: { body: Record<string, unknown> }) => (body['error'] as { code?: string } | undefined)?.code;

/** The content of all tables of the control plane. */
async function content(): Promise<unknown> {
  const tables = ['sessions', 'device_logins', 'refresh_tokens', 'audit_entries', 'outbox'];
  return Promise.all(
    tables.map((table) => system.inControlPlane(`SELECT count(*), max(md5(t::text)) FROM ${table} t`)),
  );
}

describe('what needs a fresh proof of presence', () => {
  verifies(
    'cp.reauth',
    'is refused with the challenge of RFC 9470 five minutes after the last one, and changes nothing',
    async () => {
      expect(routes.length).toBeGreaterThan(16);
      const { tab } = await system.signedIn();
      const me = (await tab.send('/api/me')).body as { user: { id: string }; workspaces: { id: string }[] };
      const workspaceId = me.workspaces[0]?.id ?? '';
      system.aheadMs += 5 * minuteMs + 2_000;
      const before = await content();
      for (const route of routes) {
        // The path of a route of one workspace names this one.
        const params = Object.fromEntries(
          pathParams(route.path).map((name) => [name, name === 'userId' ? me.user.id : workspaceId]),
        );
        const { pathname } = new URL(urlOf(route, system.gateway.url, { params }));
        const headers = { 'x-workspace-id': workspaceId };
        const told = await tab.send(pathname, { method: route.method, headers, ...bodyOf(route) });
        expect([route.operation, told.status, errorOf(told)]).toEqual([
          route.operation,
          401,
          'REAUTHENTICATION_REQUIRED',
        ]);
        const challenge = told.headers.get('www-authenticate') ?? '';
        expect(challenge).toContain('error="insufficient_user_authentication"');
        expect(challenge).toMatch(/max_age="?300"?/);
      }
      expect(await content()).toEqual(before);
    },
  );

  verifies('cp.reauth', 'is opened again by a code that goes to the person of the session', async () => {
    const { tab } = await system.signedIn();
    system.aheadMs += 6 * minuteMs;
    const ending = () => tab.send(`/api/session/credentials/ses_${'0'.repeat(26)}`, { method: 'DELETE' });
    expect(errorOf(await ending())).toBe('REAUTHENTICATION_REQUIRED');
    expect((await proveAgain(tab)).status).toBe(200);
    expect(errorOf(await ending())).toBe('NOT_FOUND');
    system.aheadMs += 6 * minuteMs;
    expect(errorOf(await ending())).toBe('REAUTHENTICATION_REQUIRED');
  });

  it('is not opened by a wrong code, by the proof of another session, by a sign-in, or by one proof twice', async () => {
    const { tab, email } = await system.signedIn();
    const { tab: other } = await system.signedIn(email);
    system.aheadMs += 6 * minuteMs;
    const begun = (await tab.send('/api/auth/reauth/begin', { method: 'POST', body: {} })).body;
    const { login_id, code } = begun;
    const finish = (by: Tab, body: object) => by.send('/api/auth/reauth/finish', { method: 'POST', body });
    const wrong = code === '000000' ? '000001' : '000000';
    expect(errorOf(await finish(tab, { login_id, code: wrong }))).toBe('CODE_INVALID');
    expect(errorOf(await finish(other, { login_id, code }))).toBe('CODE_INVALID');
    const asLogin = await system.newTab().send('/api/auth/login/finish', { method: 'POST', body: { login_id, code } });
    expect(errorOf(asLogin)).toBe('CODE_INVALID');
    const signIn = (await tab.send('/api/auth/login/begin', { method: 'POST', body: { email } })).body;
    expect(errorOf(await finish(tab, { login_id: signIn['login_id'], code }))).toBe('CODE_INVALID');
    expect((await finish(tab, { login_id, code })).status).toBe(200);
    expect(errorOf(await finish(tab, { login_id, code }))).toBe('CODE_INVALID');
  });
});
