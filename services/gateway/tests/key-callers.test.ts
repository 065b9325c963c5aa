import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ApiKeyScope,
  commercialAssertionTerms,
  keyPrincipal,
  personAssertionTerms,
  PrincipalId,
  SignInId,
  speakingHeaders,
  type AnyRoute,
  type ApiKeyEnvironment,
} from '@countersign/contracts';
import { commercialRoutes, forwarding, gatewayRoutes } from '@countersign/contracts/routes';
import type { TestDatabase } from '@countersign/database/testing';
import { createAssertionSigner, unprovenClaims } from '@countersign/service-kit';
import type { StartedGateway } from '../src/index.ts';
import { assertionKey } from './_assertion-key.ts';
import { putMember, rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { Upstream } from './_upstream.ts';

/** Fake of the control plane and of the commercial gateway. */
const upstream = new Upstream();
const dayMs = 86_400_000;
let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let bob: Person;
let aheadMs = 0;

beforeAll(async () => {
  database = await testDatabase();
  const url = await upstream.start();
  const services = { GOV_CONTROL_PLANE_URL: url, GOV_COMMERCIAL_URL: url, GOV_RUN_WORKERS: '0' };
  gateway = await startTestGateway(testConfig(database, services), { now: () => new Date(Date.now() + aheadMs) });
  ada = await signInAs(gateway.url, 'ada@example.org');
  bob = await signInAs(gateway.url, 'bob@example.org');
  await putMember(database, { workspaceId: ada.workspace.id, userId: bob.user.id, role: 'partner' });
});

beforeEach(() => {
  aheadMs = 0;
  upstream.received.length = 0;
  upstream.answer = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

afterAll(async () => {
  await gateway?.stop();
  await upstream.stop();
  await database?.drop();
});

type Wanted = { scopes?: ApiKeyScope[]; environment?: ApiKeyEnvironment; by?: Person };
const makeKey = async ({ scopes = ['basic:read', 'basic:write'], environment, by = ada }: Wanted = {}) => {
  const named = environment === undefined ? {} : { environment };
  const body = {
    workspaceId: ada.workspace.id,
    name: 'ci',
    role: 'partner',
    scopes,
    expiresInDays: 1,
    ...named,
  } as const;
  return (await by.client.createApiKey({ body, headers: { 'x-workspace-id': ada.workspace.id } })).body;
};

type Sent = { method?: string; headers?: Record<string, string> };

async function send(path: string, bearer: string, { method = 'GET', headers = {} }: Sent = {}) {
  const type: Record<string, string> = method === 'GET' ? {} : { 'content-type': 'application/json' };
  const response = await fetch(new URL(path, gateway.url), {
    method,
    headers: { authorization: `Bearer ${bearer}`, ...type, ...headers },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return error === undefined ? response.status : [response.status, error.code, error.message];
}

const basicRoutes: readonly AnyRoute[] = Object.values(commercialRoutes);
const behind = new Set(basicRoutes.flatMap(({ secondDoorOf, alsoCalls = [] }) => [secondDoorOf, ...alsoCalls]));
const atTheDoor: readonly AnyRoute[] = [...Object.values(gatewayRoutes), ...forwarding.map(({ route }) => route)];
/** Routes of people and agents that the basic API does not call. */
const notBehindBasic = atTheDoor.filter(
  ({ auth, operation, media }) =>
    auth !== 'public' && auth !== 'service_internal' && media !== 'socket' && !behind.has(operation),
);

const bearerIn = (text: unknown) => unprovenClaims(String(text).replace('Bearer ', ''));
const notBehind = [403, 'PERMISSION_DENIED', 'Services cannot use this route on behalf of a caller'];
const personOnly = [403, 'PERMISSION_DENIED', 'API keys cannot use this route. Sign in as a person'];
const basic = '/api/basic/incidents';

describe('a key of an environment', () => {
  it('is asserted under its principal with workspace, role and scopes, and with a delegation for the gateway', async () => {
    const made = await makeKey({ environment: 'prod' });
    expect(made).toMatchObject({ environment: 'prod', scopes: ['basic:read', 'basic:write'] });
    expect(await send(basic, made.key)).toBe(200);
    const { headers } = upstream.last;
    const claims = {
      sub: keyPrincipal(made.id, 'prod'),
      ...{
        sponsor: ada.user.id,
        workspace_id: ada.workspace.id,
        role: 'partner',
        scopes: ['basic:read', 'basic:write'],
      },
    };
    expect(bearerIn(headers.authorization)).toMatchObject({ ...claims, aud: commercialAssertionTerms.audience });
    const delegation = bearerIn(headers[speakingHeaders.gateway]);
    expect(delegation).toMatchObject({ ...claims, aud: 'countersign-gateway', azp: commercialAssertionTerms.audience });
    expect(headers).not.toHaveProperty(speakingHeaders.kernel);
    expect(await send('/api/ops/incidents', made.key)).toBe(200);
    expect(bearerIn(upstream.last.headers.authorization)).toMatchObject({
      ...claims,
      aud: personAssertionTerms.audience,
    });
    expect(bearerIn(upstream.last.headers[speakingHeaders.kernel])).toMatchObject({ sub: claims.sub, role: 'agent' });
    const [row] = await rowsOf<{ environment: string }>(database, 'SELECT environment FROM api_keys WHERE id = $1', [
      made.id,
    ]);
    expect(row).toEqual({ environment: 'prod' });
  });

  it('has no environment when it was created for the workspace', async () => {
    const made = await makeKey();
    expect(made.environment).toBeNull();
    await send(basic, made.key);
    expect(bearerIn(upstream.last.headers.authorization)).toMatchObject({ sub: `key:${made.id}` });
  });
});

describe('a key at routes of other services', () => {
  it('opens the routes of its scopes only, and a refusal names the scope', async () => {
    const { key } = await makeKey({ scopes: ['basic:read'] });
    const plain = await makeKey({ scopes: ['read', 'write', 'agent'] });
    const lacks = (scope: string) => [403, 'PERMISSION_DENIED', `This needs a key with the scope ${scope}`];
    for (const path of [basic, '/api/ops/incidents']) {
      expect(await send(path, key)).toBe(200);
      expect(await send(path, key, { method: 'POST' })).toEqual(lacks('basic:write'));
      expect(await send(path, plain.key)).toEqual(lacks('basic:read'));
    }
    expect(await send('/api/basic/workspaces', plain.key)).toEqual(lacks('basic:read'));
    expect(await send('/api/tasks', key)).toEqual(lacks('read'));
    expect(await send('/api/auth/apikey', key)).toBe(200);
    for (const path of [
      '/api/basic/plans/commit',
      '/api/basic/plans/approve',
      '/api/ops/resume',
      '/api/basic/workspaces',
    ])
      expect([path, await send(path, key, { method: 'POST' })]).toEqual([path, expect.arrayContaining([403])]);
    expect(await send('/api/commercial/identity?org_id=x', key)).toEqual(personOnly);
    expect(upstream.received).toHaveLength(2);
  });

  it('opens its own workspace only, with at most the current rights of its creator', async () => {
    const { key } = await makeKey({ by: bob });
    const elsewhere = { headers: { 'x-workspace-id': bob.workspace.id } };
    for (const path of [basic, '/api/basic/workspaces'])
      expect(await send(path, key, elsewhere)).toEqual([
        404,
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      ]);
    expect(await send(basic, key, { method: 'POST' })).toBe(200);
    await putMember(database, { workspaceId: ada.workspace.id, userId: bob.user.id, role: 'member' });
    const lower = [403, 'PERMISSION_DENIED', 'This needs the role partner'];
    expect(await send(basic, key, { method: 'POST' })).toEqual(lower);
    expect(await send(basic, key)).toBe(200);
    expect(bearerIn(upstream.last.headers.authorization)).toMatchObject({ role: 'member' });
    await putMember(database, { workspaceId: ada.workspace.id, userId: bob.user.id, role: 'partner' });
  });

  it('that has ended gets the reason', async () => {
    const [expired, revoked] = [await makeKey(), await makeKey()];
    await ada.client.revokeApiKey({ params: { id: revoked.id } });
    const end = 'Create a new one in the console';
    expect(await send(basic, revoked.key)).toEqual([401, 'CREDENTIALS_INVALID', `The API key was revoked. ${end}`]);
    aheadMs = dayMs + 1_000;
    const message = `The API key expired at ${expired.expiresAt}. ${end}`;
    expect(await send(basic, expired.key)).toEqual([401, 'CREDENTIALS_INVALID', message]);
    expect(upstream.received).toEqual([]);
  });

  it('ignores identity claims in headers of the client', async () => {
    const { key } = await makeKey();
    await send(basic, key);
    const genuine = upstream.last.headers;
    const names = [speakingHeaders.gateway, speakingHeaders.kernel, 'x-countersign-from-this-machine'];
    const headers = Object.fromEntries(names.map((name) => [name, String(genuine[speakingHeaders.gateway])]));
    for (const claimed of [genuine.authorization, genuine[speakingHeaders.gateway]])
      expect(await send(basic, String(claimed).replace('Bearer ', ''), { headers })).toMatchObject({ length: 3 });
    expect(upstream.received).toHaveLength(1);
    expect(await send(basic, ada.token, { headers: { ...headers, 'x-workspace-id': ada.workspace.id } })).toBe(200);
    const sent = upstream.last.headers;
    expect(bearerIn(sent[speakingHeaders.gateway])).toMatchObject({ sub: ada.user.id });
    expect(sent).not.toHaveProperty(speakingHeaders.kernel);
  });
});

describe('a delegation of a caller', () => {
  const signer = () => createAssertionSigner(createPrivateKey(assertionKey.privateKeyPem), () => new Date());
  const asserted = async () => {
    const { id } = await makeKey();
    const sub = PrincipalId.parse(keyPrincipal(id));
    const place = { sponsor: ada.user.id, workspace_id: ada.workspace.id, role: 'partner' } as const;
    return { id, claims: { ...place, sub, scopes: ['basic:read', 'basic:write'] as ApiKeyScope[] } };
  };

  it('of a key has the current rights of the key', async () => {
    const { id, claims } = await asserted();
    const widened = { ...claims, scopes: [...ApiKeyScope.options] };
    const delegation = await signer().signKeyDelegation(widened, 'commercial-gateway');
    expect(await send('/api/ops/incidents', delegation)).toBe(200);
    expect(bearerIn(upstream.last.headers.authorization)).toMatchObject({ scopes: claims.scopes });
    expect(await send('/api/tasks', delegation)).toEqual(notBehind);
    expect(await send('/api/auth/apikey', delegation, { method: 'POST' })).toEqual(personOnly);
    await ada.client.revokeApiKey({ params: { id } });
    expect(await send('/api/ops/incidents', delegation)).toMatchObject({ 0: 401, 1: 'CREDENTIALS_INVALID' });
    expect(await send('/api/ops/incidents', await signer().signKey(claims, 'commercial-gateway'))).toMatchObject({
      0: 401,
    });
  });

  it('of the commercial gateway opens the routes behind its basic API, and no other route of its caller', async () => {
    const { claims } = await asserted();
    const sid = SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1');
    const auth_time = Math.floor(Date.now() / 1_000);
    const person = { sub: ada.user.id, sid, auth_time, workspace_id: ada.workspace.id, role: 'owner' } as const;
    const wide = { ...claims, scopes: [...ApiKeyScope.options] };
    for (const delegation of [
      await signer().signDelegation(person, 'commercial-gateway'),
      await signer().signKeyDelegation(wide, 'commercial-gateway'),
    ]) {
      expect(await send('/api/auth/apikey', delegation)).toBe(200);
      const seen = [];
      for (const { operation, method, path } of notBehindBasic) {
        const answer = await send(path.replaceAll(/\{\w+\}/g, ada.workspace.id), delegation, { method });
        // The error code in the middle is omitted, because MCP has numbers as error codes.
        seen.push([operation, Array.isArray(answer) ? [answer.at(0), answer.at(-1)] : answer]);
      }
      const [status, , message] = notBehind;
      expect(seen).toEqual(notBehindBasic.map(({ operation }) => [operation, [status, message]]));
    }
    expect(notBehindBasic.length).toBeGreaterThan(100);
    expect(upstream.received).toEqual([]);
  });

  it('is never renewed: a service cannot reach itself with it, and only the commercial gateway reaches the control plane', async () => {
    const { claims } = await asserted();
    const sid = SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1');
    const auth_time = Math.floor(Date.now() / 1_000);
    const person = { sub: ada.user.id, sid, auth_time, workspace_id: ada.workspace.id, role: 'owner' } as const;
    const { signDelegation, signKeyDelegation } = signer();
    const refused = [403, 'PERMISSION_DENIED', 'Services cannot use this route on behalf of a caller'];
    for (const sign of [signDelegation.bind(null, person), signKeyDelegation.bind(null, claims)]) {
      const [commercial, controlPlane] = [await sign('commercial-gateway'), await sign('control-plane')];
      expect(await send(basic, commercial)).toEqual(refused);
      expect(await send(basic, controlPlane)).toEqual(refused);
      expect(await send('/api/ops/incidents', controlPlane)).toEqual(refused);
      expect(await send('/api/ops/incidents', commercial)).toBe(200);
    }
    expect(upstream.received).toHaveLength(2);
  });
});
