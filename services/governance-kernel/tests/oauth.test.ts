import { createServer } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openPolicy } from './_added-servers.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const resource = 'https://kernel.example/mcp';
const metadataUrl = 'https://kernel.example/.well-known/oauth-protected-resource/mcp';
const scopes = 'mcp:tools mcp:call';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

/** An authorization server that serves its metadata and keys over HTTP. */
async function startIssuer() {
  const keys = await generateKeyPair('ES256');
  const state = { keys, fetched: 0, isDown: false };
  const http = createServer((req, res) => {
    if (state.isDown) return void res.writeHead(503).end();
    state.fetched += 1;
    const json = (body: object) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/.well-known/oauth-authorization-server')
      return void json({ issuer: url(), jwks_uri: `${url()}/jwks` });
    void exportJWK(state.keys.publicKey).then((key) =>
      json({ keys: [{ ...key, kid: 'one', alg: 'ES256', use: 'sig' }] }),
    );
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const url = () => {
    const address = http.address();
    if (address === null || typeof address === 'string') throw new Error('The issuer has no port');
    return `http://127.0.0.1:${address.port}`;
  };
  return { url: url(), state, close: () => new Promise((resolve) => http.close(resolve)) };
}

let issuer: Awaited<ReturnType<typeof startIssuer>>;
let upstreams: Upstreams;
beforeAll(async () => {
  issuer = await startIssuer();
  upstreams = await startUpstreams({
    GOV_OAUTH_ISSUER: issuer.url,
    GOV_OAUTH_SCOPES: scopes.replace(' ', ','),
    GOV_PUBLIC_URL: 'https://kernel.example',
  });
  await upstreams.test.activate('*', openPolicy, 2);
});
afterAll(async () => {
  await upstreams.close();
  await issuer.close();
});

const claims = () => ({ tenant_id: 'acme', scope: scopes, client_id: 'client-1' });
type Report = {
  claims?: JWTPayload;
  iss?: string;
  aud?: string | string[];
  exp?: string | number;
  keys?: Keys;
  omit?: string;
};

async function token({
  claims: more = {},
  iss = issuer.url,
  aud = resource,
  exp = '5m',
  keys = issuer.state.keys,
  omit,
}: Report = {}) {
  const payload: JWTPayload = { ...claims(), ...more };
  if (omit !== undefined) Reflect.deleteProperty(payload, omit);
  const signing = new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' });
  const named = omit === 'sub' ? signing : signing.setSubject('agent:crawler');
  return await named.setIssuer(iss).setAudience(aud).setExpirationTime(exp).sign(keys.privateKey);
}

/** Requests the list of tools as a client would. */
async function ask(bearer: string | null, path = '/mcp', headers: Record<string, string> = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const answer = await fetch(`${upstreams.test.kernel.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
  });
  return { status: answer.status, challenge: answer.headers.get('www-authenticate'), text: await answer.text() };
}

const params = (challenge: string | null): Record<string, string> =>
  Object.fromEntries(
    [...(challenge ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );

describe('OAuth at /mcp', () => {
  verifies(
    'kn.mcp.oauth',
    'publishes its authorization server in metadata, to which the challenge of a 401 refers',
    async () => {
      const answer = await fetch(`${upstreams.test.kernel.url}/.well-known/oauth-protected-resource/mcp`);
      expect([answer.status, await answer.json()]).toEqual([
        200,
        {
          resource,
          authorization_servers: [issuer.url],
          scopes_supported: scopes.split(' '),
          bearer_methods_supported: ['header'],
          resource_name: 'countersign',
        },
      ]);
      const missing = await ask(null);
      expect(missing.status).toBe(401);
      expect(missing.challenge).toMatch(/^Bearer /);
      expect(params(missing.challenge)).toEqual({ resource_metadata: metadataUrl, scope: scopes });
    },
  );

  verifies(
    'kn.mcp.oauth',
    'accepts a valid token for its own tenant and subject, and forwards it to no server',
    async () => {
      const bearer = await token();
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${upstreams.test.kernel.url}/mcp`), { requestInit }),
      );
      const { _meta: meta } = await client.callTool({ name: 'notes.read_note', arguments: { id: 'a' } });
      expect(meta).toMatchObject({ 'countersign/reason_code': 'ALLOWED' });
      const receiptId = String(meta?.['countersign/receipt_id']);
      const { body } = await upstreams.test.as('acme').getReceipt({ params: { receipt_id: receiptId } });
      expect(body.payload).toMatchObject({ tenant_id: 'acme', principal_id: 'agent:crawler' });
      const { body: records } = await upstreams.test.as('acme').listRecords({ query: { receipt_id: receiptId } });
      expect(records.data[0]).toMatchObject({ identity: { credential: 'oauth_token', credential_id: 'client-1' } });
      expect(JSON.stringify(upstreams.notes.requests)).not.toContain(bearer);
      await client.close();
    },
  );

  const stranger = generateKeyPair('ES256');
  const wrong: [string, () => Promise<string>][] = [
    ['another audience', () => token({ aud: 'https://kernel.example/other' })],
    ['another issuer', () => token({ iss: 'https://issuer.example' })],
    ['an expiry that has passed', () => token({ exp: Math.floor(Date.now() / 1_000) - 120 })],
    ['no tenant', () => token({ omit: 'tenant_id' })],
    ['no subject', () => token({ omit: 'sub' })],
    ['a signature of an unknown key', async () => token({ keys: await stranger })],
    [
      'no signature',
      async () =>
        new UnsecuredJWT(claims())
          .setSubject('a')
          .setIssuer(issuer.url)
          .setAudience(resource)
          .setExpirationTime('5m')
          .encode(),
    ],
    [
      'a signature that uses the public key as a secret',
      async () => {
        const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(issuer.state.keys.publicKey)));
        const signing = new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'one' }).setSubject('a');
        return await signing.setIssuer(issuer.url).setAudience(resource).setExpirationTime('5m').sign(secret);
      },
    ],
  ];
  for (const [what, made] of wrong)
    verifies('kn.mcp.oauth', `refuses a token with ${what} with 401 and a challenge`, async () => {
      const { status, challenge } = await ask(await made());
      expect(status).toBe(401);
      expect(params(challenge)).toEqual({ error: 'invalid_token', resource_metadata: metadataUrl, scope: scopes });
    });

  verifies(
    'kn.mcp.oauth',
    'refuses a token without the required scopes with 403, and the challenge lists them',
    async () => {
      for (const scope of ['mcp:tools', '', '*']) {
        const { status, challenge } = await ask(await token({ claims: { scope } }));
        expect(status).toBe(403);
        expect(params(challenge)).toEqual({
          error: 'insufficient_scope',
          resource_metadata: metadataUrl,
          scope: scopes,
        });
      }
    },
  );

  it('limits a token to its own tenant, principal and routes', async () => {
    const bearer = await token();
    expect((await ask(bearer)).status).toBe(200);
    expect((await ask(bearer, '/mcp', { 'x-gov-tenant-id': 'another' })).status).toBe(403);
    expect((await ask(bearer, '/mcp', { 'x-gov-principal-id': 'another' })).status).toBe(403);
    for (const path of ['/api/v1/evaluate', '/api/v1/mcp/registry', '/api/v1/approvals'])
      expect((await ask(bearer, path)).status).toBe(403);
    expect((await ask(bearer, '/api/v1/mcp/registry/approve')).status).toBe(401);
  });

  it('checks the scopes that a profile requires against the token only', async () => {
    const profile = { tenant_id: 'scoped', servers: ['notes'], required_scopes: ['notes:read'], resource };
    await upstreams.test.as('scoped').putAuthProfile({ params: { profile_id: 'p' }, body: profile } as never);
    const authorize = async (scope: string) => {
      const bearer = await token({ claims: { tenant_id: 'scoped', scope } });
      const answer = await fetch(`${upstreams.test.kernel.url}/api/v1/mcp/authorize-call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          server_id: 'notes',
          tool_name: 'read_note',
          args: { id: 'a' },
          session_id: 's',
          granted_scopes: ['notes:read'],
        }),
      });
      return ((await answer.json()) as { reason_code: string }).reason_code;
    };
    expect(await authorize(scopes)).toBe('INSUFFICIENT_SCOPE');
    expect(await authorize(`${scopes} *`)).toBe('INSUFFICIENT_SCOPE');
    expect(await authorize(`${scopes} notes:read`)).toBe('ALLOWED');
  });

  it('refuses every token while the issuer keys cannot be read, and accepts tokens after recovery', async () => {
    issuer.state.isDown = true;
    await upstreams.test.restart();
    const bearer = await token();
    expect((await ask(bearer)).status).toBe(502);
    issuer.state.isDown = false;
    expect((await ask(bearer)).status).toBe(200);
  });
});

it('there is no resource metadata without an issuer', async () => {
  const plain = await startUpstreams();
  const answer = await fetch(`${plain.test.kernel.url}/.well-known/oauth-protected-resource/mcp`);
  expect(answer.status).toBe(404);
  await plain.close();
});
