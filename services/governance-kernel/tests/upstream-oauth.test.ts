import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addServer, approveServerAt, openPolicy } from './_added-servers.ts';
import { newSession } from './_caller.ts';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { adminKey, clientOf } from './_kernel.ts';
import { client, startClientCredentialsServer, startRefreshedServer } from './_oauth-upstream.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
let issued: Awaited<ReturnType<typeof startClientCredentialsServer>>;
let refreshed: Awaited<ReturnType<typeof startRefreshedServer>>;
beforeAll(async () => {
  [issued, refreshed] = await Promise.all([startClientCredentialsServer(), startRefreshedServer()]);
  upstreams = await startUpstreams({ GOV_MCP_PRIVATE: '1' });
  await upstreams.test.activate('*', openPolicy, 2);
});
afterAll(async () => {
  await upstreams.close();
  await Promise.all([issued.close(), refreshed.close()]);
});

const withClientCredentials = (more: object = {}) => ({
  mcpServers: {
    issued: {
      ...{ type: 'http', url: issued.url, tools: { act: { effect_level: 'E1' } } },
      oauth: { grant: 'client_credentials', token_url: issued.tokenUrl, ...client, scope: 'mcp', ...more },
    },
  },
});

const withRefreshToken = () => ({
  mcpServers: {
    refreshed: {
      ...{ type: 'http', url: refreshed.url, tools: { act: { effect_level: 'E1' } } },
      oauth: {
        ...{ grant: 'refresh_token', token_url: refreshed.tokenUrl, ...client, auth_method: 'client_secret_post' },
        refresh_token: 'refresh-token-of-the-test',
      },
    },
  },
});

async function called(tool: string, kernel = upstreams.test.kernel, tenant = 'acme') {
  const session = newSession();
  const body = { tool, args: {}, session_id: session } as never; // unbranded strings
  const { result } = (await clientOf(kernel, tenant).executeMcp({ body })).body;
  const receipts = await receiptsOf(upstreams.test, session);
  return { text: JSON.stringify(result ?? {}), sealed: receipts.map((each) => each.outcome ?? each.reason_code) };
}

/** The whole content of the database, as text. */
async function stored(): Promise<string> {
  const { rows } = await upstreams.test.pool.query<{ text: string }>(
    "SELECT query_to_xml(format('SELECT * FROM %I.%I', schemaname, tablename), true, true, '')::text AS text " +
      "FROM pg_tables WHERE schemaname = 'kernel'",
  );
  return rows.map(({ text }) => text).join('\n');
}

describe('client credentials for an MCP server', () => {
  it('get an access token for the server, and a new one when the server rejects it', async () => {
    const acme = upstreams.test.as('acme');
    const added = await addServer(acme, withClientCredentials());
    expect(added).toMatchObject({ state: 'quarantined', problem: null });
    await approveServerAt(upstreams.test.kernel, { serverId: 'issued' });
    expect(await called('issued.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
    const before = new Set(issued.seen);
    await issued.endTokens();
    const calls = issued.calls.length;
    expect(await called('issued.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
    expect(issued.calls).toHaveLength(calls + 1);
    expect(new Set(issued.seen).size).toBeGreaterThan(before.size);
    expect(issued.seen).not.toContain(adminKey);
  });

  it('belong to the tenant that added the server', async () => {
    const calls = issued.calls.length;
    await called('issued.act', upstreams.test.kernel, 'initech');
    expect(issued.calls).toHaveLength(calls);
  });

  it('that are wrong are reported with the response code, without a secret', async () => {
    const globex = upstreams.test.as('globex');
    const added = await addServer(globex, withClientCredentials({ client_secret: 'a-wrong-secret-of-globex' }));
    expect(added.problem).toContain('refused the client credentials (HTTP 401)');
    const shown = JSON.stringify([added, (await globex.listMcpServers({ query: {} })).body]);
    for (const secret of ['a-wrong-secret-of-globex', client.client_secret]) expect(shown).not.toContain(secret);
    // Addresses are shown without their path, which may be a secret.
    const token_url = new URL(issued.tokenUrl).origin;
    expect(added.config).toMatchObject({ oauth: { client_id: client.client_id, token_url } });
  });

  it('are stored in no table in plain text', async () => {
    const text = await stored();
    for (const secret of [client.client_secret, 'a-wrong-secret-of-globex', ...issued.seen])
      expect(text.includes(secret)).toBe(false);
  });
});

describe('a refresh token for an MCP server', () => {
  it('is replaced when it is used, for every replica and after a restart', async () => {
    const acme = upstreams.test.as('acme');
    const added = await addServer(acme, withRefreshToken());
    expect(added).toMatchObject({ state: 'quarantined', problem: null });
    await approveServerAt(upstreams.test.kernel, { serverId: 'refreshed' });
    expect(await called('refreshed.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
    refreshed.endTokens();
    const second = await startKernel(kernelConfigFrom(upstreams.test.env));
    try {
      const [here, there] = await Promise.all([called('refreshed.act'), called('refreshed.act', second)]);
      expect([here.sealed, there.sealed]).toEqual([
        ['ALLOWED', 'completed'],
        ['ALLOWED', 'completed'],
      ]);
      expect(refreshed.state.reused).toBe(0);
      expect(refreshed.state.refreshes).toBeGreaterThanOrEqual(3);
    } finally {
      await second.stop();
    }
    const text = await stored();
    for (const secret of ['refresh-token-of-the-test', refreshed.state.refreshToken, ...refreshed.seen])
      expect(text.includes(secret)).toBe(false);
  });
});
