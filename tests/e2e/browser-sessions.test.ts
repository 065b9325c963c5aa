import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { controlPlaneConfigFrom, startControlPlane, type StartedControlPlane } from '@countersign/control-plane';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { freePort } from '@countersign/local';
import pg from 'pg';
import { Tab } from './_tab.ts';

const services = fileURLToPath(new URL('../../services/', import.meta.url));
const serviceKey = { GOV_SERVICE_API_KEY: 'service-key-'.repeat(4) };
const assertionKey = generateSigningKey();
const minuteMs = 60_000;

let databases: { gateway: TestDatabase; controlPlane: TestDatabase };
let gateway: StartedGateway;
let controlPlane: StartedControlPlane;
let clockMs = Date.now();
let people = 0;
const now = () => new Date(clockMs);
const newAddress = () => `person-${++people}@example.org`;

beforeAll(async () => {
  databases = {
    gateway: await createTestDatabase({ serviceDir: `${services}gateway`, schema: 'gateway' }),
    controlPlane: await createTestDatabase({ serviceDir: `${services}control-plane`, schema: 'control_plane' }),
  };
  const controlPlanePort = String(await freePort());
  const shared = { ...serviceKey, NODE_ENV: 'development', GOV_RATE_LIMITS: '0', GOV_LOG_LEVEL: 'silent' };
  gateway = await startGateway(
    gatewayConfigFrom({
      ...shared,
      DATABASE_URL: databases.gateway.url,
      GOV_GATEWAY_PORT: '0',
      GOV_SESSION_SECRET: 'session-secret-'.repeat(3),
      GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
      GOV_CONTROL_PLANE_URL: `http://127.0.0.1:${controlPlanePort}`,
      GOV_RUN_WORKERS: '0',
    }),
    { now },
  );
  controlPlane = await startControlPlane(
    controlPlaneConfigFrom({
      ...shared,
      DATABASE_URL: databases.controlPlane.url,
      GOV_CONTROL_PLANE_PORT: controlPlanePort,
      GOV_GATEWAY_URL: gateway.url,
      GOV_ASSERTION_KEYS: encodeBase64Url(assertionKey.publicKey),
      GOV_SESSION_SECRET: 'console-secret-'.repeat(3),
      GOV_TRUSTED_PROXIES: '1',
    }),
    { now },
  );
}, 120_000);

afterAll(async () => {
  await controlPlane?.stop();
  await gateway?.stop();
  await Promise.all([databases?.gateway.drop(), databases?.controlPlane.drop()]);
}, 60_000);

beforeEach(() => {
  clockMs = Date.now();
});

/** As an administrator, behind the service's back. */
async function inControlPlane(statement: string): Promise<void> {
  const { adminUrl } = databases.controlPlane;
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=control_plane' });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function signedIn(): Promise<{ tab: Tab; email: string }> {
  const tab = new Tab(gateway.url);
  const email = newAddress();
  expect((await tab.signIn(email)).status).toBe(200);
  return { tab, email };
}

const errorOf = ({ body }: { body: Record<string, unknown> }) => (body['error'] as { code?: string } | undefined)?.code;

describe('a browser', () => {
  it('is signed in by a code, as the person whom the gateway knows, and reads and changes what that person may', async () => {
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
  });

  it('hides its cookies from scripts and from what other sites have it send', async () => {
    const tab = new Tab(gateway.url);
    const { headers } = await tab.signIn(newAddress());
    const [access = '', refresh = ''] = headers.getSetCookie();
    expect(access).toMatch(/^countersign=cpa_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
    expect(refresh).toMatch(/^countersign-refresh=cpr_[\w-]{43}; Path=\/api\/auth\/refresh; HttpOnly; SameSite=Strict/);
  });

  it('is nobody with a wrong code, a login of somebody else, a login twice, or one that is too old', async () => {
    const tab = new Tab(gateway.url);
    const email = newAddress();
    const begun = (await tab.send('/api/auth/login/begin', { method: 'POST', body: { email } })).body;
    const finish = (body: object) => tab.send('/api/auth/login/finish', { method: 'POST', body });
    const { login_id, code } = begun;
    const wrong = code === '000000' ? '000001' : '000000';
    expect(errorOf(await finish({ login_id, code: wrong }))).toBe('CODE_INVALID');
    expect(errorOf(await finish({ login_id: `lgn_${'A'.repeat(22)}`, code }))).toBe('CODE_INVALID');
    clockMs += 11 * minuteMs;
    expect(errorOf(await finish({ login_id, code }))).toBe('CODE_INVALID');
    clockMs -= 11 * minuteMs;
    expect((await finish({ login_id, code })).status).toBe(200);
    expect(errorOf(await finish({ login_id, code }))).toBe('CODE_INVALID');
  });

  it('changes nothing for a page of another site, or without the token of its own page', async () => {
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
  });

  it('is signed out at once, with every copy of its cookies', async () => {
    const { tab } = await signedIn();
    const copy = tab.stolen();
    expect((await tab.send('/api/session', { method: 'DELETE' })).body).toEqual({ ended: true });
    expect(tab.cookieNames).toEqual([]);
    for (const path of ['/api/session', '/api/me']) expect((await copy.send(path)).status).toBe(401);
    expect((await copy.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });
});

describe('the session of a browser', () => {
  it('opens nothing a quarter of an hour later, until it is renewed', async () => {
    const { tab } = await signedIn();
    clockMs += 16 * minuteMs;
    expect((await tab.send('/api/session')).status).toBe(401);
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).body).toMatchObject({ renewed: true });
    expect((await tab.send('/api/session')).status).toBe(200);
  });

  it('ends for everybody when a refresh cookie is used that was used before', async () => {
    const { tab } = await signedIn();
    const thief = tab.stolen();
    await tab.send('/api/auth/refresh', { method: 'POST' });
    clockMs += minuteMs;
    expect((await thief.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
    expect((await tab.send('/api/session')).status).toBe(401);
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });

  it('gives one new pair to two tabs that renew at once', async () => {
    const { tab } = await signedIn();
    const tabs = Array.from({ length: 10 }, () => tab.stolen());
    const told = await Promise.all(tabs.map((each) => each.send('/api/auth/refresh', { method: 'POST' })));
    expect(told.map(({ status }) => status)).toEqual(tabs.map(() => 200));
    expect(told.filter(({ body }) => body['renewed'] === true)).toHaveLength(1);
    expect((await tabs[told.findIndex(({ body }) => body['renewed'] === true)]?.send('/api/session'))?.status).toBe(
      200,
    );
  });

  it('is over after thirty days without a renewal', async () => {
    const { tab } = await signedIn();
    clockMs += 31 * 24 * 60 * minuteMs;
    expect((await tab.send('/api/auth/refresh', { method: 'POST' })).status).toBe(401);
  });
});

describe('the gateway', () => {
  it('takes no cookie for a token, and no token for a browser', async () => {
    const { tab } = await signedIn();
    expect((await tab.send('/api/auth/sessions')).status).toBe(403);
    const authorization = 'Bearer cs_'.padEnd(53, 'A');
    expect((await tab.send('/api/session', { headers: { authorization } })).status).toBe(401);
  });

  it('lets nobody in by a cookie while the control plane is away, and says so', async () => {
    const { tab } = await signedIn();
    await inControlPlane('ALTER TABLE access_tokens RENAME TO away');
    try {
      expect(errorOf(await tab.send('/api/me'))).toBe('CONTROL_PLANE_UNAVAILABLE');
    } finally {
      await inControlPlane('ALTER TABLE away RENAME TO access_tokens');
    }
    expect((await tab.send('/api/me')).status).toBe(200);
  });

  it('answers its siblings below /internal, and nobody else', async () => {
    const ask = (authorization?: string) =>
      fetch(`${gateway.url}/internal/sign-in-codes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
        body: JSON.stringify({ email: newAddress(), isLocal: true }),
      });
    expect((await ask()).status).toBe(401);
    expect((await ask('Bearer another')).status).toBe(401);
    expect((await ask(`Bearer ${serviceKey.GOV_SERVICE_API_KEY}`)).status).toBe(200);
  });
});
