import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pathParams, urlOf, type AnyRoute } from '@countersign/contracts';
import { controlPlaneRoutes, forwarding, gatewayRoutes } from '@countersign/contracts/routes';
import { minimalBody } from '@countersign/contracts/testing';
import { verifies } from '@countersign/testkit/verifies';
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

const routes = [
  ...Object.values<AnyRoute>({ ...controlPlaneRoutes, ...gatewayRoutes }),
  ...forwarding.map(({ route }) => route),
].filter(({ needsPresence }) => needsPresence === true);

async function proveAgain(tab: Tab) {
  const { body } = await tab.send('/api/auth/reauth/begin', { method: 'POST', body: {} });
  const { login_id, code } = body;
  return tab.send('/api/auth/reauth/finish', { method: 'POST', body: { login_id, code } });
}

/** A valid body, because the gateway reads the body before it checks the age of the proof. */
function bodyOf(route: AnyRoute): { body?: object } {
  if (route.body !== undefined) return { body: minimalBody(route) };
  return route.method === 'POST' || route.method === 'PUT' ? { body: {} } : {};
}
const errorOf = ({ body }: { body: Record<string, unknown> }) => (body['error'] as { code?: string } | undefined)?.code;

/** The content of the tables of the control plane. */
async function content(): Promise<unknown> {
  const tables = ['sessions', 'device_logins', 'refresh_tokens', 'audit_entries', 'outbox'];
  return Promise.all(
    tables.map((table) => system.inControlPlane(`SELECT count(*), max(md5(t::text)) FROM ${table} t`)),
  );
}

describe('a request that needs a new proof of presence', () => {
  verifies(
    'cp.reauth',
    'is rejected with the challenge of RFC 9470 after five minutes, and changes nothing',
    async () => {
      expect(routes.length).toBeGreaterThan(16);
      const { tab } = await system.signedIn();
      const me = (await tab.send('/api/me')).body as { user: { id: string }; workspaces: { id: string }[] };
      const workspaceId = me.workspaces[0]?.id ?? '';
      system.aheadMs += 5 * minuteMs + 2_000;
      const before = await content();
      for (const route of routes) {
        // A route of one workspace gets this workspace in its path.
        const params = Object.fromEntries(
          pathParams(route.path).map((name) => [name, name === 'userId' ? me.user.id : workspaceId]),
        );
        const { pathname } = new URL(urlOf(route, system.gateway.url, { params }));
        const headers = { 'x-workspace-id': workspaceId };
        const answer = await tab.send(pathname, { method: route.method, headers, ...bodyOf(route) });
        expect([route.operation, answer.status, errorOf(answer)]).toEqual([
          route.operation,
          401,
          'REAUTHENTICATION_REQUIRED',
        ]);
        const challenge = answer.headers.get('www-authenticate') ?? '';
        expect(challenge).toContain('error="insufficient_user_authentication"');
        expect(challenge).toMatch(/max_age="?300"?/);
      }
      expect(await content()).toEqual(before);
    },
  );

  verifies('cp.reauth', 'succeeds after a code that is mailed to the person of the session', async () => {
    const { tab } = await system.signedIn();
    system.aheadMs += 6 * minuteMs;
    const ending = () => tab.send(`/api/session/credentials/ses_${'0'.repeat(26)}`, { method: 'DELETE' });
    expect(errorOf(await ending())).toBe('REAUTHENTICATION_REQUIRED');
    expect((await proveAgain(tab)).status).toBe(200);
    expect(errorOf(await ending())).toBe('NOT_FOUND');
    system.aheadMs += 6 * minuteMs;
    expect(errorOf(await ending())).toBe('REAUTHENTICATION_REQUIRED');
  });

  it('is still rejected after a wrong code, a proof of another session, a sign-in, or a used proof', async () => {
    const { tab, email } = await system.signedIn();
    const { tab: second } = await system.signedIn(email);
    system.aheadMs += 6 * minuteMs;
    const begun = (await tab.send('/api/auth/reauth/begin', { method: 'POST', body: {} })).body;
    const { login_id, code } = begun;
    const finish = (by: Tab, body: object) => by.send('/api/auth/reauth/finish', { method: 'POST', body });
    const wrong = code === '000000' ? '000001' : '000000';
    expect(errorOf(await finish(tab, { login_id, code: wrong }))).toBe('CODE_INVALID');
    expect(errorOf(await finish(second, { login_id, code }))).toBe('CODE_INVALID');
    const asLogin = await system.newTab().send('/api/auth/login/finish', { method: 'POST', body: { login_id, code } });
    expect(errorOf(asLogin)).toBe('CODE_INVALID');
    const signIn = (await tab.send('/api/auth/login/begin', { method: 'POST', body: { email } })).body;
    expect(errorOf(await finish(tab, { login_id: signIn['login_id'], code }))).toBe('CODE_INVALID');
    expect((await finish(tab, { login_id, code })).status).toBe(200);
    expect(errorOf(await finish(tab, { login_id, code }))).toBe('CODE_INVALID');
  });
});
