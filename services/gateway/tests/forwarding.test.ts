import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { assertionTerms, keyPrincipal, type AnyRoute } from '@countersign/contracts';
import { type ApiKeyScope } from '@countersign/contracts/gateway';
import { getTrustList, listEvidenceKeys, listTrustKeys } from '@countersign/contracts/governance-kernel';
import { forwarding, kernelRoutes } from '@countersign/contracts/routes';
import type { TestDatabase } from '@countersign/database/testing';
import { AssertionVerifier, createAssertionSigner, readAssertionKey, unprovenClaims } from '@countersign/service-kit';
import type { StartedGateway } from '../src/index.ts';
import { assertionKey } from './_assertion-key.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { sendChunked, statusOf, statusOfGetWithBody } from './_unusual-requests.ts';
import { Upstream } from './_upstream.ts';

const upstream = new Upstream();
const forwarded: AnyRoute[] = forwarding.filter(({ to }) => to === 'governance-kernel').map(({ route }) => route);
const doors = forwarded.filter(({ auth }) => auth === 'agent');
const reads = forwarded.filter(({ auth, method }) => auth === 'member' && method === 'GET');
/** Routes that check something. They have bodies, and do not change any data of decisions. */
const checks = forwarded.filter(({ auth, method }) => auth === 'member' && method === 'POST');
const agentKey = `agk_${'a'.repeat(43)}`;
const limits = { GOV_RATE_LIMITS: '1', GOV_RATE_LIMIT_AUTH: '4' };
let database: TestDatabase;
let gateway: StartedGateway;
let upstreamUrl: string;
let ada: Person;
let key: string;
let keyId: string;

beforeAll(async () => {
  database = await testDatabase();
  upstreamUrl = await upstream.start();
  gateway = await startWith();
  ada = await signInAs(gateway.url, 'ada@example.org');
  ({ key, id: keyId } = await makeKey());
});

beforeEach(() => {
  upstream.answer = (_req, res) => res.end('{}');
  upstream.received.length = 0;
});

afterAll(async () => {
  await gateway?.stop();
  await upstream.stop();
  await database?.drop();
});

const startWith = (more: Record<string, string> = {}) =>
  startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: upstreamUrl, GOV_RUN_WORKERS: '0', ...more }));
const makeKey = async (scopes: ApiKeyScope[] = ['agent']) =>
  (await ada.client.createApiKey({ body: { name: 'agent', role: 'member', scopes, expiresInDays: 1 } })).body;

type Sent = { path?: string; method?: string; headers?: Record<string, string>; body?: string; at?: string };

function send({ path = '/api/v1/evaluate', method = 'POST', headers = {}, body, at = gateway.url }: Sent) {
  const sent = method === 'POST' ? (body ?? '{}') : undefined;
  const type: Record<string, string> = sent === undefined ? {} : { 'content-type': 'application/json' };
  return fetch(new URL(path, at), {
    method,
    headers: { ...type, ...headers },
    ...(sent !== undefined && { body: sent }),
  });
}

const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string | number; data?: { code: string } } };
  return `${response.status} ${error.data?.code ?? error.code}`;
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a forwarded request', () => {
  it('may use the kernel routes for agents, most routes that members read, the public keys, and five routes that check', () => {
    const routes: AnyRoute[] = Object.values(kernelRoutes);
    const named = (chosen: readonly AnyRoute[]) => chosen.map(({ operation }) => operation).sort();
    // The control plane calls these routes and shows people their own part.
    const shownElsewhere = ['get-boundary-status', 'list-actions', 'list-boundary-targets', 'list-registered-tools'];
    // The sandbox has no page yet. Operators call the kernel directly.
    const unshown = ['get-sandbox-grant', 'inspect-sandbox-grant', 'list-sandbox-grants', 'list-sandbox-profiles'];
    const isShownElsewhere = ({ operation }: AnyRoute) => [...shownElsewhere, ...unshown].includes(operation);
    const isRead = (route: AnyRoute) =>
      route.method === 'GET' && route.assertedBy?.includes('member') === true && !isShownElsewhere(route);
    expect(named(doors)).toEqual(named(routes.filter(({ door }) => door !== undefined && door !== 'authzen')));
    // The keys are public at the kernel. The check of receipts in a browser requests them from the gateway.
    expect(named(reads)).toEqual(named([...routes.filter(isRead), listTrustKeys, getTrustList, listEvidenceKeys]));
    expect(named(checks)).toEqual([
      'compare-mcp-server-address',
      'export-evidence',
      'verify-envelope',
      'verify-evidence',
      'verify-replay',
    ]);
    for (const { operation, assertedBy } of doors)
      expect([operation, assertedBy]).toContainEqual(expect.arrayContaining(['agent']));
  });

  it('identifies the person or key of the workspace, and omits the query parameter workspaceId', async () => {
    const { key: reader, id } = await makeKey(['read']);
    const own = `workspaceId=${ada.workspace.id}`;
    const read = (path: string, headers: Record<string, string>) => send({ path, method: 'GET', headers });
    const proven = async () => {
      const assertion = String(upstream.last.headers.authorization).replace('Bearer ', '');
      return AssertionVerifier.ofWorkspaces([assertionKey], () => new Date()).verify(assertion);
    };
    for (const { path } of reads) {
      const query = `limit=1&${own}&agent=a%20b`;
      expect((await read(`${path.replace(/\{\w+\}/, 'x')}?${query}`, bearer(ada.token))).status).toBe(200);
      expect(upstream.last.url).toBe(`${path.replace(/\{\w+\}/, 'x')}?limit=1&agent=a%20b`);
      expect(await proven()).toMatchObject({ sub: ada.user.id, workspace_id: ada.workspace.id, role: 'owner' });
    }
    await read(`/api/v1/receipts?${own}`, bearer(ada.token));
    expect(upstream.last.url).toBe('/api/v1/receipts');
    await read('/api/v1/receipts', { ...ada.headers, 'last-event-id': 'place-7' });
    expect(upstream.last.headers).toMatchObject({ 'last-event-id': 'place-7' });
    await read('/api/v1/receipts', bearer(reader));
    expect(await proven()).toMatchObject({
      sub: keyPrincipal(id),
      workspace_id: ada.workspace.id,
      role: 'agent',
    });
    const sent = upstream.received.length;
    const attempts: [string, Record<string, string>, string][] = [
      ['/api/v1/receipts', bearer(ada.token), '404 NOT_FOUND'],
      [`/api/v1/receipts?${own}`, bearer(key), '403 PERMISSION_DENIED'],
      [`/api/v1/receipts?${own}`, bearer(agentKey), '401 CREDENTIALS_INVALID'],
      [`/api/v1/receipts?${own}&${own}`, bearer(ada.token), '400 INVALID_REQUEST'],
      ['/api/v1/receipts?workspace%49d=x', bearer(reader), '404 NOT_FOUND'],
    ];
    for (const [path, headers, expected] of attempts)
      expect([path, await codeOf(await read(path, headers))]).toEqual([path, expected]);
    expect(upstream.received).toHaveLength(sent);
  });

  it('carries an assertion for a key of a workspace, and the unchanged credential for an agent of the kernel', async () => {
    for (const headers of [{ 'x-api-key': key }, bearer(key)]) {
      await send({ headers });
      const assertion = String(upstream.last.headers.authorization).replace('Bearer ', '');
      const proven = await AssertionVerifier.ofWorkspaces([assertionKey], () => new Date()).verify(assertion);
      expect(proven).toMatchObject({
        sub: keyPrincipal(keyId as never),
        workspace_id: ada.workspace.id,
        role: 'agent',
      });
      const { aud, iat = 0, exp = 0 } = unprovenClaims(assertion) as { aud: string; iat: number; exp: number }; // it was just verified
      expect([aud, exp - iat]).toEqual([assertionTerms.audience, 60]);
    }
    await send({ headers: bearer(agentKey) });
    expect(upstream.last.headers.authorization).toBe(`Bearer ${agentKey}`);
    await send({ headers: { 'x-api-key': agentKey } });
    expect(upstream.last.headers).toMatchObject({ authorization: `Bearer ${agentKey}` });
    expect(upstream.last.headers).not.toHaveProperty('x-api-key');
  });

  it('contains no claim of the caller about identity, origin or connection', async () => {
    const body = '{ "args" : {"a":1.0} }';
    const status = await statusOf(
      gateway.url,
      {
        ...bearer(key),
        'content-type': 'application/json',
        'x-workspace-id': ada.workspace.id,
        'x-gov-tenant-id': 'acme',
        'x-gov-principal-id': 'admin',
        'x-gov-verdict': 'ALLOW',
        'x-gov-session-id': 's-1',
        'x-gov-approval-grant': 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        'mcp-protocol-version': '2026-07-28',
        'idempotency-key': 'once',
        forwarded: 'for=10.0.0.1',
        'x-forwarded-for': '10.0.0.1',
        'x-forwarded-host': 'evil.example',
        'x-real-ip': '10.0.0.1',
        via: '1.1 evil',
        cookie: 'approver=1',
        origin: 'http://localhost:3000',
        'proxy-authorization': 'Basic x',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        te: 'trailers',
        'x-unheard-of': '1',
        'x-request-id': 'request-of-a-test',
      },
      body,
    );
    expect([status, upstream.last.body, upstream.last.url]).toEqual([200, body, '/api/v1/evaluate']);
    const { host, authorization, traceparent, ...rest } = upstream.last.headers;
    expect(host).toBe(new URL(upstreamUrl).host);
    expect([typeof authorization, typeof traceparent]).toEqual(['string', 'string']);
    expect(rest).toEqual({
      connection: 'keep-alive',
      'content-length': String(body.length),
      'content-type': 'application/json',
      'idempotency-key': 'once',
      'mcp-protocol-version': '2026-07-28',
      'x-gov-approval-grant': 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'x-gov-session-id': 's-1',
      'x-request-id': 'request-of-a-test',
      'x-tell-request': '1',
    });
  });

  it('of any other caller is refused before anything is forwarded', async () => {
    const signer = createAssertionSigner(required(readAssertionKey(assertionKey.privateKeyPem)), () => new Date());
    const ownAssertion = await signer.sign({
      workspace_id: ada.workspace.id as never,
      sub: ada.user.id as never,
      role: 'owner',
    });
    const { key: reader } = await makeKey(['read', 'write']);
    const { key: revoked, id } = await makeKey();
    await ada.client.revokeApiKey({ params: { id } });
    const foreign = await signInAs(gateway.url, 'eve@example.org');
    const attempts: [Record<string, string>, string][] = [
      [{}, '401 CREDENTIALS_REQUIRED'],
      [bearer(ownAssertion), '401 CREDENTIALS_INVALID'],
      [bearer('service-key-of-a-gateway-under-test'), '401 CREDENTIALS_INVALID'],
      [bearer(`apk_${'a'.repeat(43)}`), '401 CREDENTIALS_INVALID'],
      [bearer(revoked), '401 CREDENTIALS_INVALID'],
      [bearer(`cs_${'A'.repeat(43)}`), '401 CREDENTIALS_INVALID'],
      [bearer(ada.token), '403 PERMISSION_DENIED'],
      [bearer(reader), '403 PERMISSION_DENIED'],
      [{ ...bearer(key), 'x-workspace-id': foreign.workspace.id }, '404 NOT_FOUND'],
      [{ ...bearer(key), 'x-api-key': agentKey }, '401 CREDENTIALS_INVALID'],
    ];
    for (const route of doors)
      for (const [headers, expected] of attempts) {
        const response = await send({ path: route.path, method: route.method, headers });
        expect([route.operation, await codeOf(response)]).toEqual([route.operation, expected]);
      }
    expect(upstream.received).toEqual([]);
  });

  it('begins under the current settings of the workspace', async () => {
    await send({ headers: bearer(key) });
    const before = upstream.settings.put.length;
    await send({ headers: bearer(key) });
    expect(upstream.settings.put).toHaveLength(before);
    const params = { id: ada.workspace.id };
    await ada.client.putWorkspaceSettings({
      params,
      body: { policyConfig: { maxIterationBudget: 3, blockedTools: ['mail.send'], deniedCall: 'end' } },
    });
    await send({ headers: bearer(key) });
    expect(upstream.settings.isBlocked(ada.workspace.id, 'mail.send')).toBe(true);
    upstream.settings.standAt(`/internal/policy/blocks/${ada.workspace.id}`, 1_000);
    await ada.client.putWorkspaceSettings({
      params,
      body: { policyConfig: { maxIterationBudget: 4, blockedTools: [], deniedCall: 'end' } },
    });
    const sent = upstream.received.length;
    expect(await codeOf(await send({ headers: bearer(key) }))).toBe('503 GOVERNANCE_UNAVAILABLE');
    expect(upstream.received).toHaveLength(sent);
    await send({ headers: bearer(agentKey) });
    upstream.settings.standAt(`/internal/policy/blocks/${ada.workspace.id}`, 1);
    expect((await send({ headers: bearer(key) })).status).toBe(200);
  });
});

describe('a forwarded answer', () => {
  it('is unchanged, without headers between the gateway and the kernel', async () => {
    const bytes = randomBytes(300_000);
    upstream.answer = (_req, res) => {
      const own = {
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        'set-cookie': 'a=b',
        'access-control-allow-origin': '*',
      };
      const limited = { ratelimit: '"kernel";r=1', 'ratelimit-policy': '"kernel"' };
      const statement = {
        'content-type': 'application/x-odd; a=b',
        'x-gov-verdict': 'DENY',
        'x-request-id': 'of-the-kernel',
      };
      res.writeHead(403, { ...own, ...limited, ...statement });
      for (let at = 0; at < bytes.length; at += 7_000) res.write(bytes.subarray(at, at + 7_000));
      res.end();
    };
    const response = await send({ headers: { ...bearer(key), 'x-request-id': 'of-the-caller' } });
    expect(response.status).toBe(403);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'application/x-odd; a=b',
      'x-gov-verdict': 'DENY',
      'x-request-id': 'of-the-caller',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    for (const gone of ['x-hop', 'set-cookie', 'access-control-allow-origin', 'ratelimit'])
      expect(headers).not.toHaveProperty(gone);
  });

  it('is streamed event by event, and the kernel learns when its reader leaves, also before the first event', async () => {
    let isGone = false;
    upstream.answer = (_req, res) => {
      res.once('close', () => (isGone = true));
      if (begins) res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
    let begins = true;
    const ask = (signal: AbortSignal) =>
      fetch(new URL('/v1/models', gateway.url), { headers: bearer(key), signal }).catch(() => null);
    const reading = new AbortController();
    const reader = required((await ask(reading.signal))?.body).getReader();
    expect(Buffer.from(required((await reader.read()).value)).toString()).toBe('data: 1\n\n');
    expect(isGone).toBe(false);
    reading.abort();
    await until(async () => isGone);
    [begins, isGone] = [false, false];
    const waiting = new AbortController();
    const requestCount = upstream.received.length;
    void ask(waiting.signal);
    await until(async () => upstream.received.length > requestCount);
    waiting.abort();
    await until(async () => isGone);
  });

  it('is cut when the kernel dies, so it is not taken for complete', async () => {
    let die = () => {};
    upstream.answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{"half":');
      die = () => res.destroy();
    };
    const response = await send({ headers: bearer(key) });
    die();
    await expect(response.text()).rejects.toThrow();
  });

  it('reports an unavailable kernel in the form of the protocol', async () => {
    upstream.answer = (req) => req.socket.destroy();
    expect(await codeOf(await send({ headers: bearer(key) }))).toBe('503 GOVERNANCE_UNAVAILABLE');
    const rpc = await send({ path: '/mcp', headers: bearer(key) });
    expect(await rpc.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'GOVERNANCE_UNAVAILABLE' } } });
    const away = await startWith({ GOV_GOVERNANCE_URL: 'http://127.0.0.1:9' });
    const none = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
    try {
      for (const { url: at } of [away, none])
        expect(await codeOf(await send({ at, headers: bearer(agentKey) }))).toBe('503 GOVERNANCE_UNAVAILABLE');
    } finally {
      await Promise.all([away.stop(), none.stop()]);
    }
  });
});

describe('the agent route', () => {
  it('refuses bodies over the limit of the route, with or without a declared length, and each body of a GET request', async () => {
    const large = JSON.stringify({ text: 'x'.repeat(1_048_576) });
    expect(await codeOf(await send({ headers: bearer(key), body: large }))).toBe('413 PAYLOAD_TOO_LARGE');
    expect(upstream.received).toEqual([]);
    expect(
      await codeOf(await sendChunked(gateway.url, '/api/v1/evaluate', { headers: bearer(key), body: large })),
    ).toBe('413 PAYLOAD_TOO_LARGE');
    expect(upstream.received.filter(({ body }) => body.length >= large.length)).toEqual([]);
    const fits = await sendChunked(gateway.url, '/v1/chat/completions', { headers: bearer(key), body: large });
    expect([fits.status, upstream.last.body.length]).toEqual([200, large.length]);
    expect(await statusOfGetWithBody(gateway.url, key)).toBe(413);
    expect((await send({ headers: bearer(key) })).status).toBe(200);
  });

  it('limits attempts with unknown credentials by address, and not known callers', async () => {
    const limited = await startWith(limits);
    upstream.answer = (req, res) => {
      res.statusCode = req.headers.authorization === `Bearer ${agentKey}` ? 200 : 401;
      res.end('{}');
    };
    const statusWith = async (nth: number) =>
      (await send({ at: limited.url, headers: bearer(`agk_${String(nth).padStart(43, 'b')}`) })).status;
    const statusOfAgent = async () => (await send({ at: limited.url, headers: bearer(agentKey) })).status;
    try {
      expect(await statusOfAgent()).toBe(200);
      expect([await statusWith(1), await statusWith(2), await statusWith(3)]).toEqual([401, 401, 401]);
      expect([await statusWith(4), await statusWith(1)]).toEqual([429, 429]);
      for (let count = 0; count < 8; count += 1) expect(await statusOfAgent()).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('counts each agent and each key separately, and returns the remaining limit', async () => {
    const limited = await startWith({ GOV_RATE_LIMITS: '1', GOV_RATE_LIMIT_STANDARD: '3' });
    const second = await makeKey();
    try {
      const ask = (token: string) => send({ at: limited.url, headers: bearer(token) });
      expect((await ask(key)).headers.get('ratelimit')).toContain('r=2');
      await ask(key);
      await ask(key);
      expect((await ask(key)).status).toBe(429);
      expect((await ask(second.key)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

function required<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new TypeError('a value is missing');
  return value;
}
