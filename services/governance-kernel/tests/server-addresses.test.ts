import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { createLogger } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { withoutSecrets } from '../src/doors/mcp/configured-secrets.ts';
import { McpServerConfig } from '../src/doors/mcp/server-config.ts';
import { addServer, approveServerAt, openPolicy } from './_added-servers.ts';
import { asAdministrator } from './_administrator.ts';
import { ledgerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const secrets = ['path-secret-1', 'query-secret-1', 'user-secret-1', 'pass-secret-1', 'path-secret-2', 'path-secret-3'];
let notes: NoteServer;
let test: TestKernel;
const messages: string[] = [];
const url = (change: Partial<URL> = {}) => Object.assign(new URL(notes.url), change).href;
const hosted = () => url({ pathname: '/s/path-secret-1/mcp', search: '?key=query-secret-1' });

beforeAll(async () => {
  notes = await startNoteServer();
  const stream = new Writable({ write: (chunk, _encoding, done) => void (messages.push(String(chunk)), done()) });
  const declared = { server_id: 'declared', transport: 'http', url: url({ pathname: '/s/path-secret-2/mcp' }) };
  test = await startTestKernel({
    env: { GOV_MCP_PRIVATE: '1', GOV_MCP_SERVERS: JSON.stringify({ servers: [declared] }) },
    overrides: { log: createLogger({ service: 'test', level: 'debug', stream }) },
  });
  await test.activate('*', openPolicy);
});
afterAll(async () => {
  await test?.close();
  await notes?.close();
});

const configOf = async (id: string, tenant = 'acme') =>
  (await test.as(tenant).getMcpServer({ params: { server_id: id }, query: {} })).body.config;
const compare = async (id: string, address: string) =>
  (await test.as('acme').compareMcpServerAddress({ params: { server_id: id }, query: {}, body: { url: address } }))
    .body;

describe('the address of a server', () => {
  verifies(
    'kn.mcp.server',
    'is shown without user, path and query in every answer, receipt and log entry',
    async () => {
      const operator = test.as('acme', 'operator-1');
      const user = { username: 'user-secret-1', password: 'pass-secret-1' };
      const added = await addServer(operator, { server_id: 'hosted', url: hosted() });
      const closed = { server_id: 'closed', url: url({ ...user, port: '1', pathname: '/s/path-secret-3/mcp' }) };
      const approved = await approveServerAt(test.kernel, { serverId: 'hosted' });
      const answers = [
        added,
        approved,
        await addServer(operator, closed),
        (await operator.listMcpServers({ query: {} })).body,
        (await operator.scanMcpServer({ query: {}, body: { server_id: 'closed' } })).body,
        (await operator.scanMcpServer({ query: {}, body: { ...closed, server_id: 'unknown' } as never })).body, // a string instead of a branded one
        (await operator.listGalleryServers({ query: {} })).body,
        await compare('hosted', hosted()),
        (await operator.listRecords({ query: {} })).body,
        await ledgerOf(test, 'mcp-registry'),
        messages,
      ];
      expect(answers.map((answer) => secrets.filter((secret) => JSON.stringify(answer).includes(secret)))).toEqual(
        answers.map(() => []),
      );
      expect(approved.config).toMatchObject({ url: new URL(notes.url).origin });
      expect(JSON.stringify(answers)).toContain('mcp.server.declare');
      const { rows } = await test.pool.query<{ text: string }>('SELECT config::text AS text FROM mcp_servers');
      expect(secrets.filter((secret) => JSON.stringify(rows).includes(secret))).toEqual([]);
    },
  );

  it('has a digest that distinguishes paths and queries of one host, and that differs between tenants', async () => {
    const operator = test.as('acme', 'operator-1');
    const addresses = { one: hosted(), two: url({ pathname: '/s/other/mcp' }), three: `${hosted()}&more=1` };
    for (const [id, address] of Object.entries(addresses)) await addServer(operator, { server_id: id, url: address });
    await addServer(test.as('another', 'operator-1'), { server_id: 'one', url: addresses.one });
    const digests = [
      ...(await Promise.all(Object.keys(addresses).map((id) => configOf(id)))),
      await configOf('one', 'another'),
    ].map((config) => config['address_digest']);
    expect(new Set(digests).size).toBe(4);
    for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{12}$/);
  });

  it('can be compared without being shown, for servers of the tenant only', async () => {
    await addServer(test.as('acme', 'operator-1'), { server_id: 'compared', url: hosted() });
    const outcomes = [hosted(), url({ pathname: '/s/path-secret-1/mcp' }), url({ pathname: '/s/other/mcp' })];
    const has = await Promise.all(outcomes.map(async (address) => (await compare('compared', address)).has_address));
    expect(has).toEqual([true, true, false]);
    expect(await compare('declared', url({ pathname: '/s/path-secret-2/mcp' }))).toMatchObject({ has_address: false });
    await expect(compare('absent', hosted())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('loses its path in rows of an earlier version, whose configuration is described again', async () => {
    // The rows of all tenants change, so this database has no twins.
    const apart = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1' }, twins: false });
    const operator = apart.as('acme', 'operator-1');
    const { config: before } = await addServer(operator, { server_id: 'earlier', url: hosted() });
    const stored = {
      url: 'https://hub.example:8443/s/path-secret-1/mcp',
      headers: [],
      oauth: { token_url: 'https://login.example/t/path-secret-2' },
    };
    await asAdministrator(apart, 'UPDATE mcp_servers SET config = $1', [stored]);
    const migration = '../prisma/migrations/20270121100000_addresses_without_paths/migration.sql';
    await asAdministrator(apart, readFileSync(new URL(migration, import.meta.url), 'utf8'));
    const { rows } = await apart.pool.query('SELECT config FROM mcp_servers');
    expect(rows).toEqual([
      { config: { url: 'https://hub.example:8443', headers: [], oauth: { token_url: 'https://login.example' } } },
    ]);
    const { body } = await operator.getMcpServer({ params: { server_id: 'earlier' }, query: {} });
    expect(body.config).toEqual(before);
    await apart.close();
  });

  it('is removed from messages that repeat it, as written or decoded', () => {
    const config = McpServerConfig.parse({
      ...{
        server_id: 'x',
        transport: 'http',
        url: 'https://user-1:pass%2F1@hub.example/s/path%20secret/mcp?key=q%20value',
      },
    });
    const message =
      'GET https://hub.example/s/path%20secret/mcp failed: path secret, path%20secret, q value, user-1, pass/1';
    expect(withoutSecrets(config, message)).toBe(
      'GET https://hub.example[redacted] failed: [redacted], [redacted], [redacted], [redacted], [redacted]',
    );
  });
});
