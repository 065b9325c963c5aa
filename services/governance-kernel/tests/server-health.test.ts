import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { untilReachable } from '@countersign/testkit/until';
import { newSession } from './_caller.ts';
import { Agent } from 'undici';
import { UpstreamServer } from '../src/doors/mcp/upstream-server.ts';
import { definitionHash } from '../src/registry/tool-definition.ts';
import { TestGateway, userCalled } from './_assertions.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const gateway = new TestGateway();
const token = 'bearer-token-of-the-hanging-server';
const readOnly = { readOnlyHint: true };
/** Each test has its own server, because it makes the server fail. */
const names = ['calls', 'lists', 'talker'] as const;
type Name = (typeof names)[number];
let servers: Record<Name, ScriptedMcp>;
let upstreams: Upstreams;
beforeAll(async () => {
  const started = await Promise.all(
    names.map(async (name) => [name, await startScriptedMcp({ annotations: readOnly })] as const),
  );
  servers = Object.fromEntries(started) as typeof servers; // one server for each name
  const declared = names.map((name) => ({
    ...{ server_id: name, transport: 'http', trust_annotations: true, url: servers[name].url },
    headers: { authorization: `Bearer ${token}` },
    limits: { call_timeout_ms: 200 },
  }));
  upstreams = await startUpstreams({ GOV_ASSERTION_KEYS: gateway.publicKey, GOV_MCP_TIMEOUT: '5s' }, declared);
});
afterAll(async () => {
  await upstreams.close();
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

async function called(tool: string, { tenant = 'acme', args = {} } = {}) {
  const session = newSession();
  const body = { tool, args, session_id: session } as never; // unbranded strings
  const { result } = (await upstreams.test.as(tenant).executeMcp({ body })).body;
  const receipts = await receiptsOf(upstreams.test, session);
  return { text: JSON.stringify(result ?? {}), sealed: receipts.map((each) => each.outcome ?? each.reason_code) };
}

async function healthOf(serverId: string) {
  const { body } = await upstreams.test.as('acme').getMcpServer({ params: { server_id: serverId }, query: {} });
  return body.health;
}

const callsSent = ({ methods }: ScriptedMcp) => methods.filter((method) => method === 'tools/call').length;

describe('the health of an MCP server', () => {
  it('reports the state of its connection', async () => {
    expect(await healthOf('notes')).toMatchObject({
      ...{ state: 'connected', consecutive_failures: 0, last_error: null, retry_at: null, running_calls: 0 },
    });
  });

  it('is suspended after five unanswered calls, and further calls are not sent until a trial succeeds', async () => {
    servers.calls.answer('tools/call', null);
    for (let nth = 0; nth < 5; nth += 1) expect((await called('calls.act')).sealed).toEqual(['ALLOWED', 'uncertain']);
    expect(await healthOf('calls')).toMatchObject({
      ...{ state: 'suspended', consecutive_failures: 5, retry_at: expect.any(String) },
      last_error: { message: expect.stringContaining('timed out'), at: expect.any(String) },
    });
    const sent = callsSent(servers.calls);
    const { text, sealed } = await called('calls.act');
    expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
    expect(callsSent(servers.calls)).toBe(sent);
    const written = await called('notes.write_note', { args: { id: 'other', text: 'x' } });
    expect(written.sealed).toEqual(['ALLOWED', 'completed']);
    servers.calls.answer('tools/call', { result: { resultType: 'complete', content: [] } });
    await untilReachable(async () => (await called('calls.act')).sealed.at(-1) === 'completed');
    expect(await healthOf('calls')).toMatchObject({ state: 'connected', consecutive_failures: 0, retry_at: null });
  });

  it('is suspended after one unanswered list, and a decision does not wait for the next list', async () => {
    servers.lists.answer('tools/list', null);
    expect((await called('lists.act')).sealed).toEqual(['REGISTRY_UNAVAILABLE']);
    expect(await healthOf('lists')).toMatchObject({ state: 'suspended' });
    const lists = servers.lists.methods.length;
    expect((await called('lists.act')).sealed).toEqual(['REGISTRY_UNAVAILABLE']);
    expect(servers.lists.methods).toHaveLength(lists);
    const list = [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, annotations: readOnly }];
    servers.lists.answer('tools/list', {
      result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: list },
    });
    await untilReachable(async () => (await called('lists.act')).sealed.at(-1) === 'completed');
  });

  it('reports errors without configuration values, and hides errors of shared servers from members', async () => {
    servers.talker.answer('server/discover', { error: { code: -32_601, message: 'no such method' } });
    servers.talker.answer('initialize', { error: { code: -32_000, message: `I was sent Bearer ${token}` } });
    servers.talker.answerOnce('tools/list', { status: 404 });
    await called('talker.act');
    await untilReachable(async () => (await healthOf('talker'))?.state === 'unreachable');
    const health = await healthOf('talker');
    expect(health?.last_error?.message).toContain('[redacted]');
    expect(JSON.stringify(health)).not.toContain(token);
    const member = gateway.client(upstreams.test.kernel.url, { role: 'member', principal: userCalled('ADA') });
    const { body: seen } = await member.getMcpServer({ params: { server_id: 'talker' }, query: {} });
    expect(seen.health).toMatchObject({ state: 'unreachable', last_error: null });
  });
});

describe('endless calls of an MCP server', () => {
  it('use at most half of its slots for one tenant, so that another tenant is served', async () => {
    const server = await startScriptedMcp({ annotations: readOnly });
    const limits = { concurrent_calls: 4 };
    const apart = await startUpstreams({ GOV_MCP_TIMEOUT: '5s' }, [
      { server_id: 'slow', transport: 'http', trust_annotations: true, url: server.url, limits },
    ]);
    const act = async (tenant: string) => {
      const body = { tool: 'slow.act', args: {}, session_id: newSession() } as never;
      return JSON.stringify((await apart.test.as(tenant).executeMcp({ body })).body.result ?? {});
    };
    try {
      server.answerOnce('tools/call', null, 2);
      const snapshot = [act('acme'), act('acme')];
      await untilReachable(() => Promise.resolve(callsSent(server) === 2));
      expect(await act('acme')).toContain('the maximum number of calls in progress');
      expect(await act('globex')).toContain('done');
      expect((await Promise.all(snapshot)).map((text) => text.includes('may have run'))).toEqual([true, true]);
    } finally {
      await apart.close();
      await server.close();
    }
  });
});

describe('an MCP server whose name resolves to a new address', () => {
  it('is reached there, and a call that met a closed port is not sent twice', async () => {
    let address = '127.0.0.1';
    const agent = new Agent({
      pipelining: 0,
      connect: { lookup: (_name, _options, done) => done(null, [{ address, family: 4 }]) },
    });
    let desk = await startNoteServer();
    const { port } = new URL(desk.url);
    const config = { server_id: 'desk', transport: 'http', url: `http://desk.example:${port}/mcp`, headers: {} };
    const server = new UpstreamServer({
      ...{ config, agent, log, sandbox: null, reachesPrivate: true, scratchDir: '', account: null },
      ...{ outputBytesMax: 1_000_000, callTimeoutMs: 5_000, listAgeMaxMs: 60_000 },
      now: () => performance.now(), // the clock that the kernel passes
      ...{ clock: () => new Date(), onListed: async () => undefined },
    } as never); // unbranded strings
    const write = async () => {
      const tool = (await server.tools()).find(({ name }) => name === 'write_note');
      const permit = {
        ...{ tool: 'desk.write_note', tenant: 'acme', sandboxGrantHash: null, mayStillSend: () => null },
        definitionHash: tool === undefined ? null : definitionHash(tool),
        take: () => ({ args: { id: 'a', text: 'x' } }),
      };
      return await server.call(permit as never, { signal: AbortSignal.timeout(10_000) }); // longer than the call timeout
    };
    try {
      await server.start();
      await write();
      expect(desk.calls).toHaveLength(1);
      await desk.close();
      desk = await startNoteServer({ port: Number(port), host: '127.0.0.2' });
      address = '127.0.0.2';
      await write();
      expect(desk.calls).toHaveLength(1);
      expect(server.health()).toMatchObject({ state: 'connected', consecutive_failures: 0 });
    } finally {
      await server.close();
      await agent.destroy();
      await desk.close();
    }
  });
});

const none = () => undefined;
const log = { info: none, warn: none, error: none, debug: none, child: () => log };
