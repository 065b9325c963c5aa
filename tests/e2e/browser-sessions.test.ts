import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { SignInSystem, serviceKey } from './_sign-in-system.ts';
import { endOf, type Tab } from './_tab.ts';

const minuteMs = 60_000;
let system: SignInSystem;

beforeAll(async () => {
  system = await SignInSystem.start();
});

afterAll(() => system?.stop());

beforeEach(() => {
  system.aheadMs = 0;
});

const newAddress = () => system.newAddress();
const signedIn = () => system.signedIn();

async function tokenOfProgram(tab: Tab, workspaceId: string): Promise<string> {
  const post = async (path: string, form: Record<string, string>) => {
    const response = await fetch(new URL(path, system.gateway.url), {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'cli', ...form }),
    });
    return (await response.json()) as Record<string, string>; // the caller checks the members
  };
  const { device_code = '', user_code = '' } = await post('/api/auth/device/code', {});
  const body = { decision: 'approve', workspace_id: workspaceId };
  await tab.send(`/api/auth/device/${user_code}/decide`, { method: 'POST', body });
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return (await post('/api/auth/device/token', { grant_type, device_code }))['access_token'] ?? '';
}

const errorOf = ({ body }: { body: Record<string, unknown> }) => (body['error'] as { code?: string } | undefined)?.code;

describe('a browser that signs in again', () => {
  it('ends its earlier session of any person, even after its access cookie has expired', async () => {
    for (const aheadMs of [0, 20 * minuteMs]) {
      const { tab } = await signedIn();
      const { session_id: before } = (await tab.send('/api/session')).body;
      const copied = tab.stolen();
      system.aheadMs += aheadMs;
      expect((await tab.signIn(newAddress())).status).toBe(200);
      expect((await copied.send('/api/session')).status).toBe(401);
      expect((await copied.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
      const ended = await system.inControlPlane(`SELECT end_reason FROM sessions WHERE id = '${String(before)}'`);
      expect(ended).toEqual([{ end_reason: 'signed_in_again' }]);
    }
  });

  it('ends no session before its sign-in succeeds, and none for an unknown cookie', async () => {
    const { tab } = await signedIn();
    const begun = await tab.send('/api/auth/login/begin', { method: 'POST', body: { email: newAddress() } });
    const body = { login_id: begun.body['login_id'], code: begun.body['code'] === '000000' ? '000001' : '000000' };
    expect((await tab.send('/api/auth/login/finish', { method: 'POST', body })).status).toBe(401);
    expect((await tab.send('/api/session')).status).toBe(200);
  });
});

describe('a browser', () => {
  verifies(
    'cp.login',
    'signs in with a code, as the person at the gateway, and may do what that person may',
    async () => {
      const { tab, email } = await signedIn();
      expect(tab.cookieNames.sort()).toEqual(['countersign', 'countersign-refresh']);
      const session = (await tab.send('/api/session')).body;
      const me = (await tab.send('/api/me')).body as {
        user: { id: string; email: string };
        workspaces: { id: string }[];
      };
      expect(me.user).toMatchObject({ id: session['user_id'], email });
      const headers = { 'x-workspace-id': me.workspaces[0]?.id ?? '' };
      const task = await tab.send('/api/tasks', {
        method: 'POST',
        headers,
        body: { title: 'A letter', description: '' },
      });
      expect(task.status).toBe(201);
      expect((await tab.send('/api/tasks', { headers })).body['data']).toHaveLength(1);
    },
  );

  it('hides its cookies from scripts, and does not send them with requests of other sites', async () => {
    const tab = system.newTab();
    const { headers } = await tab.signIn(newAddress());
    const [access = '', refresh = ''] = headers.getSetCookie();
    expect(access).toMatch(/^countersign=cpa_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
    expect(refresh).toMatch(/^countersign-refresh=cpr_[\w-]{43}; Path=\/api\/auth\/refresh; HttpOnly; SameSite=Strict/);
  });

  verifies('cp.login', 'gets the same sign-in answers for known and unknown e-mail addresses', async () => {
    const { email: existing } = await signedIn();
    const headers = { 'x-request-id': 'the-same-request' };
    const ask = async (email: string) => {
      const begun = await system.newTab().send('/api/auth/login/begin', { method: 'POST', body: { email }, headers });
      const { login_id, code } = begun.body;
      const body = { login_id, code: code === '000000' ? '000001' : '000000' };
      const refused = await system.newTab().send('/api/auth/login/finish', { method: 'POST', body, headers });
      // Each request between services has a random id.
      const text = refused.text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'random');
      return [begun.status, Object.keys(begun.body), begun.headers.getSetCookie(), refused.status, text];
    };
    expect(await ask(existing)).toEqual(await ask(newAddress()));
  });

  verifies(
    'cp.login',
    'is rejected with a wrong code, a login of another person, a used login, or an expired one',
    async () => {
      const tab = system.newTab();
      const email = newAddress();
      const begun = (await tab.send('/api/auth/login/begin', { method: 'POST', body: { email } })).body;
      const finish = (body: object) => tab.send('/api/auth/login/finish', { method: 'POST', body });
      const { login_id, code } = begun;
      const wrong = code === '000000' ? '000001' : '000000';
      expect(errorOf(await finish({ login_id, code: wrong }))).toBe('CODE_INVALID');
      expect(errorOf(await finish({ login_id: `lgn_${'A'.repeat(22)}`, code }))).toBe('CODE_INVALID');
      system.aheadMs += 11 * minuteMs;
      expect(errorOf(await finish({ login_id, code }))).toBe('CODE_INVALID');
      system.aheadMs -= 11 * minuteMs;
      expect((await finish({ login_id, code })).status).toBe(200);
      expect(errorOf(await finish({ login_id, code }))).toBe('CODE_INVALID');
    },
  );

  verifies(
    'cp.session',
    'changes nothing for a page of another site, or without the CSRF token of its own page',
    async () => {
      const { tab } = await signedIn();
      const deleting = (headers: Record<string, string>) => tab.send('/api/session', { method: 'DELETE', headers });
      const refusals: Record<string, string>[] = [
        { 'x-csrf-token': '' },
        { 'x-csrf-token': 'A'.repeat(43) },
        { 'sec-fetch-site': 'cross-site' },
      ];
      for (const headers of refusals) expect(errorOf(await deleting(headers))).toBe('CSRF_TOKEN_INVALID');
      expect((await tab.send('/api/session')).status).toBe(200);
      const another = (await signedIn()).tab;
      expect(errorOf(await deleting({ 'x-csrf-token': another.csrfToken }))).toBe('CSRF_TOKEN_INVALID');
    },
  );

  it('is signed out at once, including every copy of its cookies', async () => {
    const { tab } = await signedIn();
    const copy = tab.stolen();
    expect((await tab.send('/api/session', { method: 'DELETE' })).body).toEqual({ ended: true });
    expect(tab.cookieNames).toEqual([]);
    for (const path of ['/api/session', '/api/me']) expect((await copy.send(path)).status).toBe(401);
    expect((await copy.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });
});

describe('the session of a browser', () => {
  it('expires after a quarter of an hour, until it is renewed', async () => {
    const { tab } = await signedIn();
    system.aheadMs += 16 * minuteMs;
    expect((await tab.send('/api/session')).status).toBe(401);
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).body).toMatchObject({ renewed: true });
    expect((await tab.send('/api/session')).status).toBe(200);
  });

  verifies('cp.session', 'ends for all its browsers when a refresh cookie is used twice', async () => {
    const { tab } = await signedIn();
    const thief = tab.stolen();
    await tab.send('/api/auth/refresh', { method: 'POST' });
    system.aheadMs += minuteMs;
    expect((await thief.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
    expect((await tab.send('/api/session')).status).toBe(401);
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });

  it('gives one new pair of cookies to tabs that renew at the same time', async () => {
    const { tab } = await signedIn();
    const tabs = Array.from({ length: 10 }, () => tab.stolen());
    const messages = await Promise.all(tabs.map((each) => each.send('/api/auth/refresh', { method: 'POST' })));
    expect(messages.map(({ status }) => status)).toEqual(tabs.map(() => 200));
    expect(messages.filter(({ body }) => body['renewed'] === true)).toHaveLength(1);
    expect((await tabs[messages.findIndex(({ body }) => body['renewed'] === true)]?.send('/api/session'))?.status).toBe(
      200,
    );
  });

  it('ends after thirty days without a renewal', async () => {
    const { tab } = await signedIn();
    system.aheadMs += 31 * 24 * 60 * minuteMs;
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });
});

describe('a session that ended', () => {
  type Overview = Record<'sessions' | 'devices', { session_id: string; current?: boolean }[]>;
  const follow = async (tab: Tab) => {
    const [workspace] = (await tab.send('/api/me')).body['workspaces'] as { id: string }[];
    const stream = await tab.follow(`/api/events?workspaceId=${workspace?.id ?? ''}`);
    expect(stream.status).toBe(200);
    return stream;
  };

  verifies('cp.session', 'loses its requests and its streams within a second, for every kind of end', async () => {
    const { tab, email } = await signedIn();
    const again = async () => (await system.signedIn(email)).tab;
    const [signedOut, reused, removed] = [await again(), await again(), await again()];
    const copy = reused.stolen();
    await reused.send('/api/auth/refresh', { method: 'POST' });
    const streams = await Promise.all([signedOut, reused, removed, tab].map(follow));
    const { sessions } = (await tab.send('/api/session')).body as Overview;
    expect(sessions).toHaveLength(4);
    const own = (await removed.send('/api/session')).body['session_id'];
    system.aheadMs += minuteMs;
    const ends: [Tab, () => Promise<unknown>][] = [
      [signedOut, () => signedOut.send('/api/session', { method: 'DELETE' })],
      [reused, () => copy.send('/api/auth/refresh', { method: 'POST' })],
      [removed, () => tab.send(`/api/session/credentials/${String(own)}`, { method: 'DELETE' })],
    ];
    for (const [index, [neighbour, end]] of ends.entries()) {
      await end();
      expect((await neighbour.send('/api/me')).status).toBe(401);
      await streams[index]?.ended;
    }
    expect((await tab.send('/api/session')).body['sessions']).toHaveLength(1);
    expect((await tab.send('/api/me')).status).toBe(200);
    await tab.send('/api/session', { method: 'DELETE' });
    await streams[3]?.ended;
  });

  it('loses its requests and its streams also if it belongs to a program, and is no longer listed', async () => {
    const { tab } = await signedIn();
    const [workspace] = (await tab.send('/api/me')).body['workspaces'] as { id: string }[];
    const token = await tokenOfProgram(tab, workspace?.id ?? '');
    const headers = { authorization: `Bearer ${token}` };
    const stream = await fetch(new URL('/api/events', system.gateway.url), { headers });
    expect(stream.status).toBe(200);
    const { devices } = (await tab.send('/api/session')).body as Overview;
    expect(devices).toMatchObject([{ client: 'cli', workspace_id: workspace?.id, role: 'member' }]);
    await tab.send(`/api/session/credentials/${devices[0]?.session_id}`, { method: 'DELETE' });
    await endOf(stream);
    expect((await fetch(new URL('/api/tasks', system.gateway.url), { headers })).status).toBe(401);
    expect((await tab.send('/api/session')).body['devices']).toEqual([]);
  });

  it('was ended by its own person: a request to end the session of another person gets 404', async () => {
    const [{ tab }, { tab: second }] = [await signedIn(), await signedIn()];
    const theirs = (await second.send('/api/session')).body['session_id'];
    const ending = (id: unknown) => tab.send(`/api/session/credentials/${String(id)}`, { method: 'DELETE' });
    for (const id of [theirs, `ses_${'0'.repeat(26)}`, 'none']) expect((await ending(id)).status).toBe(404);
    expect((await second.send('/api/me')).status).toBe(200);
  });
});

describe('an invited person at a browser', () => {
  it('joins without a code, unless a page of another site sends the request', async () => {
    const [host, guest] = [await signedIn(), await signedIn()];
    const [workspace] = (await host.tab.send('/api/me')).body['workspaces'] as { id: string }[];
    const invite = async () => {
      const body = { email: guest.email, role: 'member' };
      const { body: report } = await host.tab.send(`/api/workspace/${workspace?.id}/invite`, { method: 'POST', body });
      return `/api/auth/invite/${String(report['inviteToken'])}`;
    };
    const body = { email: guest.email };
    const foreign = { 'sec-fetch-site': 'cross-site' };
    const answer = await guest.tab.send(await invite(), { method: 'POST', body, headers: foreign });
    expect(answer.body).toMatchObject({ verificationRequired: true });
    const joined = await guest.tab.send(await invite(), { method: 'POST', body });
    expect(joined.body).toMatchObject({ verificationRequired: false, role: 'member' });
  });
});

describe('the gateway', () => {
  it('accepts no cookie as a token, and no token in place of a cookie', async () => {
    const { tab } = await signedIn();
    expect((await tab.send('/api/auth/sessions')).status).toBe(403);
    const authorization = 'Bearer cs_'.padEnd(53, 'A');
    expect((await tab.send('/api/session', { headers: { authorization } })).status).toBe(401);
  });

  it('rejects cookies while the control plane is unavailable, with its own error code', async () => {
    const { tab } = await signedIn();
    await system.inControlPlane('ALTER TABLE access_tokens RENAME TO away');
    try {
      expect(errorOf(await tab.send('/api/me'))).toBe('CONTROL_PLANE_UNAVAILABLE');
    } finally {
      await system.inControlPlane('ALTER TABLE away RENAME TO access_tokens');
    }
    expect((await tab.send('/api/me')).status).toBe(200);
  });

  it('answers only its sibling services below /internal', async () => {
    const ask = (authorization?: string) =>
      fetch(`${system.gateway.url}/internal/sign-in-codes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
        body: JSON.stringify({ email: newAddress(), isLocal: true }),
      });
    expect((await ask()).status).toBe(401);
    expect((await ask('Bearer another')).status).toBe(401);
    expect((await ask(`Bearer ${serviceKey}`)).status).toBe(200);
  });
});
