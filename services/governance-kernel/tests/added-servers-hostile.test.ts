import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { addServer, approveServerAt, codeOf, listed, mcpClient, openPolicy } from './_added-servers.ts';
import { startEverything } from './_everything.ts';
import { clientOf, startTestKernel, type TestKernel } from './_kernel.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';

/** A host without bubblewrap. */
const noSandbox = { GOV_BWRAP_PATH: '/nonexistent/bwrap' };

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({
    env: { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0', GOV_MCP_TIMEOUT: '6s', ...noSandbox },
  });
  await test.activate('*', openPolicy);
});
afterAll(() => test.close());

const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const act = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' } };
const operator = () => test.as('acme', 'operator-1');

/** Another call, which a hostile server must not delay. */
async function answersOthers(): Promise<void> {
  const body = { action: 'tool.call', tool: 'lookup', session_id: 'others', args: {}, context: {}, mode: 'enforce' };
  expect((await test.as('acme', 'agent').evaluate({ body: body as never })).body.verdict).toBe('ALLOW');
}

describe('a hostile server that is added', () => {
  let scripted: ScriptedMcp;
  beforeEach(async () => {
    scripted = await startScriptedMcp();
  });
  afterEach(() => scripted.close());
  const listing = (tools: unknown[], more: object = {}) =>
    scripted.answer('tools/list', { result: { ...complete, tools, ...more } });

  it('has only its malformed tools hidden, and each of them is named', async () => {
    const longName = 'n'.repeat(2_000);
    listing([
      act,
      { name: 'no-schema' },
      { ...act, name: 'surrogate', description: '\ud800' },
      { ...act, name: 'nul', description: 'a\u0000b' },
      { ...act, name: longName },
      { ...act, name: 'twice' },
      { ...act, name: 'twice' },
      { ...act, name: 'unseen', description: 'Acts.\u200b\u202e\u{e0041}' },
    ]);
    const server = await addServer(operator(), { server_id: 'bad-tools', url: scripted.url });
    expect(server.hidden_tools.map(({ name }) => name)).toEqual([
      'no-schema',
      'surrogate',
      'nul',
      `${longName.slice(0, 200)}…`,
      'twice',
    ]);
    expect(server.tools.map(({ name }) => name)).toEqual(['act', 'unseen']);
    await approveServerAt(test.kernel, { serverId: 'bad-tools' });
    const client = await mcpClient(test.kernel);
    expect(await codeOf(client, 'bad-tools.act')).toBe('ALLOWED');
    expect((await listed(client)).hidden).toMatchObject({ malformed: 5 });
    await client.close();
  });

  it.each([
    [
      '100,000 tools',
      'discovered',
      () => listing(Array.from({ length: 100_000 }, (_, nth) => ({ ...act, name: `act_${nth}` }))),
    ],
    ['endless pages', 'quarantined', () => listing([act], { nextCursor: 'more' })],
    ['8 MB', 'discovered', () => listing([{ ...act, description: 'x'.repeat(8_000_000) }])],
  ])('whose list of tools has %s is not trusted, and delays no other call', async (what, state, answer) => {
    answer();
    const adding = addServer(operator(), { server_id: `flood-${what.length}`, url: scripted.url });
    await answersOthers();
    expect(await adding).toMatchObject({ state });
    const client = await mcpClient(test.kernel);
    expect(await codeOf(client, `flood-${what.length}.act`)).toBe('SERVER_QUARANTINED');
    await client.close();
  });

  it('that lists 100,000 tools after its approval is not called, and delays no other call', async () => {
    await addServer(operator(), { server_id: 'turns', url: scripted.url });
    await approveServerAt(test.kernel, { serverId: 'turns' });
    const client = await mcpClient(test.kernel);
    expect(await codeOf(client, 'turns.act')).toBe('ALLOWED');
    listing(Array.from({ length: 100_000 }, (_, nth) => ({ ...act, name: `act_${nth}` })));
    const calling = codeOf(client, 'turns.act');
    await answersOthers();
    expect(await calling).toBe('REGISTRY_UNAVAILABLE');
    await client.close();
  });
});

it('a server that never ends its answer is disconnected, and delays no other call', async () => {
  const open: ServerResponse[] = [];
  const endless = await listening(
    createServer((_req, res) => {
      open.push(res);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = () => void (res.destroyed || res.write(': more\n\n', () => setTimeout(write, 5))); // never ends
      write();
    }),
  );
  const adding = addServer(operator(), { server_id: 'endless', url: endless.url });
  await answersOthers();
  expect(await adding).toMatchObject({ state: 'discovered', problem: expect.stringContaining('cannot be listed') });
  await until(() => open.every(({ destroyed }) => destroyed));
  await endless.close();
});

describe('a command that is added', () => {
  it('is not started on a host without bubblewrap, cannot be called, and the answer names the missing package', async () => {
    const marker = `marker-${process.pid}`;
    const server = await addServer(operator(), {
      mcpServers: {
        local: { command: process.execPath, args: ['-e', `process.title='${marker}'`], env: { TOKEN: 'secret-value' } },
      },
    });
    expect(server).toMatchObject({ state: 'discovered', transport: 'stdio', tools: [] });
    expect(server.problem).toContain('Install the package bubblewrap');
    expect(JSON.stringify(server)).not.toContain('secret-value');
    const client = await mcpClient(test.kernel);
    expect(await codeOf(client, 'local.anything')).toBe('SERVER_QUARANTINED');
    const approving = clientOf(test.kernel, 'acme').approveMcpServer({
      params: { server_id: 'local' },
      body: {
        tenant_id: 'acme',
        approval_receipt_id: `rcp_${'0'.repeat(26)}`,
        definitions_hash: `sha256:${'0'.repeat(64)}`,
      },
    });
    await expect(approving).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('bubblewrap'),
    });
    await client.close();
  });
});

describe('the route that adds servers', () => {
  const server = 'https://mcp.example.com/mcp';
  it.each([
    ['an address', { url: server }, [['example-com', 'http']]],
    ['a command', { server_id: 'one', command: 'npx', args: ['-y', 'some-server'] }, [['one', 'stdio']]],
    [
      'the format of Claude Desktop, Cursor and Claude Code',
      { mcpServers: { hub: { type: 'http', url: server }, cmd: { command: 'uvx' } } },
      [
        ['hub', 'http'],
        ['cmd', 'stdio'],
      ],
    ],
    ['the format of VS Code', { servers: { code: { type: 'http', url: server } } }, [['code', 'http']]],
    [
      'a remote server.json',
      {
        server_json: {
          $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
          name: 'com.example/weather',
          description: 'Weather',
          version: '1.0.0',
          remotes: [{ type: 'streamable-http', url: server }],
        },
      },
      [['weather', 'http']],
    ],
    [
      'a packaged server.json',
      {
        server_json: {
          name: 'com.example/packed',
          description: 'Packed',
          version: '1.0.0',
          packages: [
            { registryType: 'npm', identifier: '@example/packed', version: '1.0.0', transport: { type: 'stdio' } },
          ],
        },
      },
      [['packed', 'stdio']],
    ],
  ] as const)('accepts %s', async (_form, document, expected) => {
    const { body } = await test.as('forms', 'operator').registerMcpServer({ query: {}, body: document } as never);
    expect(body.servers.map(({ server_id: id, transport }) => [id, transport])).toEqual(expected);
  });

  it.each([
    ['two forms at once', { url: server, command: 'npx' }],
    ['no form', { server_id: 'x' }],
    ['the SSE transport', { mcpServers: { old: { type: 'sse', url: server } } }],
    ['an invalid name', { mcpServers: { 'My Server': { url: server } } }],
    ['a placeholder', { mcpServers: { hub: { url: server, headers: { authorization: '${TOKEN}' } } } }],
    [
      'a server.json without a value that it needs',
      {
        server_json: {
          name: 'com.example/x',
          remotes: [{ type: 'streamable-http', url: server, headers: [{ name: 'X-Key', isRequired: true }] }],
        },
      },
    ],
  ])('refuses %s', async (_what, document) => {
    const adding = test.as('forms', 'operator').registerMcpServer({ query: {}, body: document });
    await expect(adding).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('private addresses', () => {
  it('are not contacted unless the operator allows them', async () => {
    const scripted = await startScriptedMcp();
    const strict = await startTestKernel();
    for (const url of [
      scripted.url,
      scripted.url.replace('127.0.0.1', 'localhost'),
      scripted.url.replace('127.0.0.1', '[::1]'),
    ]) {
      const added = await addServer(strict.as('acme', 'operator'), { server_id: `s${url.length}`, url });
      expect(added.problem).toMatch(/not public|not answer|cannot be listed/);
      expect(added.state).toBe('discovered');
    }
    expect(scripted.methods).toEqual([]);
    await strict.close();
    await scripted.close();
  });
});

it('server-everything from npm is added, approved and called', async () => {
  const everything = await startEverything();
  await addServer(operator(), { server_id: 'everything', url: everything.url });
  expect((await approveServerAt(test.kernel, { serverId: 'everything' })).tools.length).toBeGreaterThan(5);
  const client = await mcpClient(test.kernel);
  const result = await client.callTool({ name: 'everything.echo', arguments: { message: 'hello' } });
  expect(JSON.stringify(result.content)).toContain('hello');
  await client.close();
  everything.stop();
});

async function listening(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, url: `http://127.0.0.1:${address.port}/mcp`, close };
}
