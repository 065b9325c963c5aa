import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { identityUpdated } from '@countersign/contracts/commercial-gateway';
import { recordEventsIn } from '@countersign/messaging';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { clientSecret, TestProvider, type Lie } from './_oidc-provider.ts';
import { SignInSystem } from './_sign-in-system.ts';
import { axeFindings, openChromium, openVisitor } from './_console.ts';
import { codeOf, detailsOf, type Tab, type Report } from './_tab.ts';

/** The domain of an organisation that requires single sign-on. */
const ssoDomain = 'corp.example';
const consoleUrl = 'http://localhost:3100';
let system: SignInSystem;
let provider: TestProvider;

beforeAll(async () => {
  const clients = ['acme', 'other'].map((connection_id) => ({
    ...{ connection_id, client_id: `countersign-${connection_id}`, client_secret: clientSecret },
  }));
  provider = await TestProvider.start(clients, consoleUrl);
  const { issuer } = provider;
  const connections = clients.map((client) => ({
    ...client,
    name: 'Acme',
    issuer,
    link_domains: ['example.org', ssoDomain],
  }));
  const away = {
    connection_id: 'away',
    name: 'Away',
    issuer: 'http://127.0.0.1:1',
    client_id: 'c',
    link_domains: ['example.org'],
  };
  system = await SignInSystem.start({
    controlPlane: { GOV_OIDC_CONNECTIONS: JSON.stringify({ connections: [...connections, away] }) },
  });
});

afterAll(async () => {
  await system?.stop();
  await provider?.stop();
});

type Account = Parameters<TestProvider['is']>[0];
const post = (tab: Tab, path: string, body: object) => tab.send(path, { method: 'POST', body });
const begin = (tab: Tab, connection_id = 'acme') =>
  post(tab, '/api/auth/login/begin', { method: 'oidc', connection_id });
const isSignedIn = async (tab: Tab) => (await tab.send('/api/session')).status === 200;

/** The address to which the provider redirects this browser for an account. A test may then change it. */
async function answered(tab: Tab, account: Account, lie: Lie | null = null): Promise<URL> {
  provider.is(account, lie);
  return provider.signIn(String((await begin(tab)).body['authorization_url']));
}

async function comeBack(tab: Tab, address: URL) {
  const { status, headers, text } = await tab.visit(address.pathname + address.search);
  const code = /[A-Z]+_[A-Z_]+(?=, request)/.exec(text)?.[0] ?? null;
  return { status, code, location: headers.get('location') };
}

/** Links the identity to the person with its address, by the code that was mailed there. */
async function link(tab: Tab, account: Account): Promise<Report> {
  const { location } = await comeBack(tab, await answered(tab, account));
  const loginId = new URL(location ?? '', consoleUrl).searchParams.get('link');
  const { body } = await post(tab, '/api/auth/login/begin', { method: 'link', login_id: loginId });
  return post(tab, '/api/auth/login/finish', { login_id: loginId, code: body['code'] });
}

const refused = { status: 403, code: 'OIDC_REFUSED', location: null };

describe('an identity of a provider', () => {
  verifies('cp.login', 'is linked by a code that is mailed to its address, and then signs its person in', async () => {
    const ada = await system.signedIn();
    const { user_id: adas } = (await ada.tab.send('/api/session')).body;
    const account = { subject: 'ada-at-acme', email: ada.email };
    const tab = system.newTab();
    const unlinked = await comeBack(tab, await answered(tab, account));
    expect(unlinked).toMatchObject({ status: 303, location: expect.stringContaining('/console/sign-in?link=lgn_') });
    expect(await isSignedIn(tab)).toBe(false);
    expect(await link(tab, account)).toMatchObject({
      status: 200,
      body: { user_id: adas, methods: ['oidc', 'code'] },
    });
    const later = system.newTab();
    expect(await comeBack(later, await answered(later, account))).toMatchObject({
      status: 303,
      location: '/console',
    });
    const { body } = await later.send('/api/session');
    // This provider does not report when the person authenticated. The sign-in is therefore no proof of presence.
    expect(body).toMatchObject({ user_id: adas, methods: ['oidc'], proven_at: '1970-01-01T00:00:00.000Z' });
    const [identity] = body['identities'] as Record<string, unknown>[];
    expect(identity).toMatchObject({ issuer: provider.issuer, subject: 'ada-at-acme' });
    const entries = (await later.send('/api/audit/entries?action=provider_identity.linked')).body['data'];
    expect(entries).toMatchObject([{ actor: adas, details: { issuer: provider.issuer, subject: 'ada-at-acme' } }]);
  });

  verifies('cp.login', 'cannot sign its person in after they unlinked it, and only they can unlink it', async () => {
    const [ada, eve] = [await system.signedIn(), await system.signedIn()];
    const account = { subject: 'leaves', email: ada.email };
    await link(system.newTab(), account);
    const [identity] = (await ada.tab.send('/api/session')).body['identities'] as { identity_id: string }[];
    const end = ({ tab }: typeof ada) =>
      tab.send(`/api/session/credentials/${identity?.identity_id}`, { method: 'DELETE' });
    expect(codeOf(await end(eve))).toEqual([404, 'NOT_FOUND']);
    expect(await end(ada)).toMatchObject({ status: 200, body: { ended: true } });
    expect((await ada.tab.send('/api/session')).body).toMatchObject({ identities: [] });
    const entries = (await ada.tab.send('/api/audit/entries?action=provider_identity.unlinked')).body['data'];
    expect(entries).toMatchObject([{ details: { issuer: provider.issuer, subject: 'leaves' } }]);
    const later = system.newTab();
    expect((await comeBack(later, await answered(later, account))).location).toContain('/console/sign-in?link=');
    expect(await isSignedIn(later)).toBe(false);
  });

  verifies('cp.login', 'is identified by its issuer and subject, whatever address the provider reports', async () => {
    const [ada, eve] = [await system.signedIn(), await system.signedIn()];
    const { user_id: adas } = (await ada.tab.send('/api/session')).body;
    await link(system.newTab(), { subject: 'moves', email: ada.email });
    const moved = system.newTab();
    await comeBack(moved, await answered(moved, { subject: 'moves', email: eve.email }));
    expect((await moved.send('/api/session')).body['user_id']).toBe(adas);
    const taker = system.newTab();
    const taken = await comeBack(taker, await answered(taker, { subject: 'takes-over', email: ada.email }));
    expect(taken.location).toContain('/console/sign-in?link=');
    expect(await isSignedIn(taker)).toBe(false);
  });

  verifies('cp.login', 'states when its person authenticated, if the provider reports it', async () => {
    const { email } = await system.signedIn();
    await link(system.newTab(), { subject: 'timed', email });
    const at = Math.floor(Date.now() / 1_000) - 600;
    const tab = system.newTab();
    await comeBack(tab, await answered(tab, { subject: 'timed', email }, { claims: { auth_time: at } }));
    expect((await tab.send('/api/session')).body['proven_at']).toBe(new Date(at * 1_000).toISOString());
  });
});

describe('a sign-in with a forged or foreign answer', () => {
  const existing = { subject: 'known', email: 'known@example.org' };
  beforeAll(async () => void (await link(system.newTab(), existing)));

  const lies: [string, Lie][] = [
    ['another nonce', { claims: { nonce: 'of-another-login' } }],
    ['another issuer', { claims: { iss: 'https://elsewhere.example' } }],
    ['another audience', { claims: { aud: 'somebody-else' } }],
    ['an end in the past', { claims: { exp: 1_700_000_000 } }],
    ['the key of a stranger', { signedBy: 'stranger' }],
    ['the secret of the client', { signedBy: 'secret' }],
    ['no signature', { signedBy: 'nobody' }],
  ];
  for (const [what, lie] of lies)
    verifies('cp.login', `rejects a token with ${what}`, async () => {
      const tab = system.newTab();
      expect(await comeBack(tab, await answered(tab, existing, lie))).toEqual(refused);
      expect(await isSignedIn(tab)).toBe(false);
    });

  const changes: [string, (address: URL) => void][] = [
    ['another state', ({ searchParams }) => searchParams.set('state', 'lgn_AAAAAAAAAAAAAAAAAAAAAA')],
    ['no state', ({ searchParams }) => searchParams.delete('state')],
    ['two states', ({ searchParams }) => searchParams.append('state', searchParams.get('state') ?? '')],
    ['another issuer (RFC 9207)', ({ searchParams }) => searchParams.set('iss', 'https://elsewhere.example')],
    ['no issuer', ({ searchParams }) => searchParams.delete('iss')],
    ['a refusal', ({ searchParams }) => searchParams.set('error', 'access_denied')],
    ['another code', ({ searchParams }) => searchParams.set('code', 'guessed')],
  ];
  for (const [what, change] of changes)
    verifies('cp.login', `rejects an answer with ${what}`, async () => {
      const tab = system.newTab();
      const address = await answered(tab, existing);
      change(address);
      expect((await comeBack(tab, address)).status).toBeGreaterThanOrEqual(400);
      expect(await isSignedIn(tab)).toBe(false);
    });

  verifies('cp.login', 'rejects the code of another login, which was made for another verifier', async () => {
    const [theirs, tab] = [await answered(system.newTab(), existing), system.newTab()];
    const address = await answered(tab, existing);
    address.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect(await comeBack(tab, address)).toEqual(refused);
  });

  verifies('cp.login', 'rejects the answer of another browser, of another connection, or a used one', async () => {
    const tab = system.newTab();
    const address = await answered(tab, existing);
    const second = system.newTab();
    await begin(second);
    expect(await comeBack(second, address)).toEqual(refused);
    const elsewhere = new URL(address.href.replace('/acme/', '/other/'));
    expect(await comeBack(tab, elsewhere)).toEqual(refused);
    expect((await comeBack(tab, address)).location).toBe('/console');
    expect(await comeBack(tab, address)).toEqual(refused);
    expect([await isSignedIn(second), await isSignedIn(tab)]).toEqual([false, true]);
  });
});

describe('an unlinked identity', () => {
  it('is linked only in the browser that proved it', async () => {
    const [{ email }, tab, victims] = [await system.signedIn(), system.newTab(), system.newTab()];
    const { location } = await comeBack(tab, await answered(tab, { subject: 'lures', email }));
    const login_id = new URL(location ?? '', consoleUrl).searchParams.get('link');
    await begin(victims);
    expect(codeOf(await post(victims, '/api/auth/login/begin', { method: 'link', login_id }))).toEqual([
      401,
      'CODE_INVALID',
    ]);
    const { body } = await post(tab, '/api/auth/login/begin', { method: 'link', login_id });
    expect(body).toMatchObject({ method: 'code', email });
    const proof = { login_id, code: body['code'] };
    expect(codeOf(await post(victims, '/api/auth/login/finish', proof))).toEqual([401, 'CODE_INVALID']);
    expect((await post(tab, '/api/auth/login/finish', proof)).status).toBe(200);
  });

  it('requests no code for an address outside the domain of its connection, or without a valid address', async () => {
    for (const account of [
      { subject: 'far', email: 'far@elsewhere.example' },
      { subject: 'silent' },
      { subject: 'odd', email: 'x' },
    ]) {
      const tab = system.newTab();
      expect(await comeBack(tab, await answered(tab, account))).toEqual(refused);
    }
  });

  it('belongs to one person, even when two prove it at the same time', async () => {
    const [ada, eve] = [await system.signedIn(), await system.signedIn()];
    const [first, second] = [system.newTab(), system.newTab()];
    const pending = async (tab: Tab, email: string) => {
      const { location } = await comeBack(tab, await answered(tab, { subject: 'shared', email }));
      const login_id = new URL(location ?? '', consoleUrl).searchParams.get('link');
      const { body } = await post(tab, '/api/auth/login/begin', { method: 'link', login_id });
      return { login_id, code: body['code'] };
    };
    const [adas, eves] = [await pending(first, ada.email), await pending(second, eve.email)];
    expect((await post(first, '/api/auth/login/finish', adas)).status).toBe(200);
    expect(codeOf(await post(second, '/api/auth/login/finish', eves))).toEqual([401, 'CODE_INVALID']);
    expect(await isSignedIn(second)).toBe(false);
  });
});

describe('single sign-on that an organisation requires', () => {
  const person = { subject: 'at-corp', email: `ada@${ssoDomain}` };

  /** Publishes the identity settings as the commercial gateway does. */
  async function publish(version: number, sso_required: boolean): Promise<void> {
    const { context } = system.gateway;
    const data = {
      ...{ org_id: 'org_01ARZ3NDEKTSV4RRFFQ69G5FAV', version, sso_required, oidc_connection_id: 'acme' },
      ...{ role_mappings: [], verified_domains: [ssoDomain], break_glass_user_id: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    } as const;
    const event = context.newEvent(identityUpdated, data as never); // plain strings instead of branded ones
    await context.transaction((tx) => recordEventsIn(tx, [event]));
  }

  it('lets only its connection sign people of the domain in, the first time too', async () => {
    await link(system.newTab(), { subject: 'linked-before', email: `eve@${ssoDomain}` });
    await publish(1, true);
    const tab = system.newTab();
    const ask = (email: string) => post(tab, '/api/auth/login/begin', { method: 'code', email });
    await until(async () => (await ask(person.email)).status === 403);
    for (const email of [person.email, `unknown@${ssoDomain}`]) {
      const refusal = await ask(email);
      expect([codeOf(refusal), detailsOf(refusal)]).toEqual([
        [403, 'SSO_REQUIRED'],
        expect.objectContaining({ connection_id: 'acme' }),
      ]);
    }
    expect(await link(tab, person)).toMatchObject({ status: 200, body: { methods: ['oidc', 'code'] } });
    const later = system.newTab();
    expect((await comeBack(later, await answered(later, person))).location).toBe('/console');
    provider.is({ subject: 'linked-before', email: `eve@${ssoDomain}` });
    const elsewhere = await provider.signIn(String((await begin(later, 'other')).body['authorization_url']));
    expect(await comeBack(later, elsewhere)).toMatchObject({ status: 403, code: 'SSO_REQUIRED' });
    await publish(2, false);
    await until(async () => (await system.newTab().signIn(person.email)).status === 200);
  });
});

describe('connections', () => {
  it('are listed by name only, with an error and a next step for an unreachable one, and 404 for an unknown one', async () => {
    const tab = system.newTab();
    const { body } = await tab.send('/api/auth/oidc');
    expect(body['data']).toEqual([
      { connection_id: 'acme', name: 'Acme' },
      { connection_id: 'other', name: 'Acme' },
      { connection_id: 'away', name: 'Away' },
    ]);
    expect(codeOf(await begin(tab, 'away'))).toEqual([503, 'OIDC_UNAVAILABLE']);
    expect(codeOf(await begin(tab, 'none'))).toEqual([404, 'NOT_FOUND']);
    expect((await tab.visit('/api/auth/oidc/none/callback?state=x')).status).toBe(404);
  });
});

describe('the sign-in page', () => {
  it('leads to each provider and back, asks once for the code that links, and then signs in', async () => {
    const { email } = await system.signedIn();
    const browser = await openChromium();
    const { page, context } = await openVisitor(browser, system.gateway.url);
    provider.is({ subject: 'in-a-browser', email });
    /**
     * The provider redirects to a fixed address of the console, where nothing listens in these tests. The browser
     * opens the path of the redirect in a tab, at the real address.
     */
    const goThere = async () => {
      await page.goto('/console/sign-in');
      const [sent] = await Promise.all([
        page.waitForRequest((request) => request.url().startsWith(`${consoleUrl}/`)),
        page.getByRole('button', { name: 'Continue with Acme' }).first().press('Enter'),
      ]);
      const { pathname, search } = new URL(sent.url());
      const tab = await context.newPage();
      await tab.goto(pathname + search);
      return tab;
    };
    await page.goto('/console/sign-in');
    await page.getByRole('button', { name: 'Continue with Away' }).waitFor();
    expect(await page.getByRole('button', { name: 'Continue with' }).allTextContents()).toEqual([
      'Continue with Acme',
      'Continue with Acme',
      'Continue with Away',
    ]);
    expect(await axeFindings(page)).toEqual([]);
    const first = await goThere();
    await first.getByRole('button', { name: 'Send the code' }).waitFor();
    expect(await axeFindings(first)).toEqual([]);
    await first.getByRole('button', { name: 'Send the code' }).press('Enter');
    await first.keyboard.type((await first.getByLabel('Code for development').textContent()) ?? '');
    await first.keyboard.press('Enter');
    await first.getByRole('heading', { name: 'Overview' }).waitFor();
    await context.clearCookies();
    const later = await goThere();
    await later.getByRole('heading', { name: 'Overview' }).waitFor();
    await browser.close();
  });
});
