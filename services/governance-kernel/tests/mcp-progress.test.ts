import { createServer, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server, type CallToolRequest, type ServerContext } from '@modelcontextprotocol/server';
import { Client, StreamableHTTPClientTransport, type Progress } from '@modelcontextprotocol/client';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const tool = { name: 'build', inputSchema: { type: 'object' as const }, annotations: { readOnlyHint: true } };
/** The parameters of each call that arrived. */
const arrived: CallToolRequest['params'][] = [];

/** A fraction of the call timeout. If progress extended the timeout, the call would never end. */
const progressEveryMs = 500;

/**
 * Reports each step if the caller requested progress. Then reports progress under a token that no caller has chosen.
 * With `endless` the tool continues until the call is cancelled.
 */
async function build(params: CallToolRequest['params'], { mcpReq }: ServerContext) {
  arrived.push({ ...params, _meta: mcpReq._meta });
  const { steps = 3, text = 'step', endless = false } = (params.arguments ?? {}) as Record<string, never>;
  const progressToken = mcpReq._meta?.progressToken;
  const tell = (params: object) => mcpReq.notify({ method: 'notifications/progress', params } as never); // untyped
  if (progressToken !== undefined)
    for (let step = 1; step <= steps; step += 1)
      await tell({ progressToken, progress: step, total: steps, message: text, sneaked: 'x', _meta: { sneaked: 'x' } });
  await tell({ progressToken: 'sneaked', progress: 99 }).catch(() => undefined);
  while (endless && !mcpReq.signal.aborted) {
    await delay(progressEveryMs); // reports until the call times out
    await tell({ progressToken, progress: 100 }).catch(() => undefined);
  }
  return { content: [{ type: 'text' as const, text: 'built' }] };
}

let http: HttpServer;
let upstreams: Upstreams;
beforeAll(async () => {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'builder', version: '1' }, { capabilities: { tools: {}, logging: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
    server.setRequestHandler('tools/call', ({ params }, context) => build(params, context));
    return server;
  });
  const serve = toNodeHandler(handler);
  http = createServer((req, res) => void serve(req, res));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = http.address() as { port: number };
  upstreams = await startUpstreams({ GOV_MCP_TIMEOUT: '4s' }, [
    { server_id: 'builder', transport: 'http', trust_annotations: true, url: `http://127.0.0.1:${port}/mcp` },
  ]);
});
afterAll(async () => {
  await upstreams.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

const modes = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' } as const;
type Revision = keyof typeof modes;
const revisions = Object.keys(modes) as Revision[];

/** Calls the tool. Returns the progress that the caller received, and all unexpected messages. */
async function called(revision: Revision, args: Record<string, unknown>, asksProgress = true) {
  const heard: Progress[] = [];
  const unasked: string[] = [];
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: modes[revision] } });
  client.onerror = ({ message }) => unasked.push(message);
  client.fallbackNotificationHandler = async ({ method }) => void unasked.push(method);
  const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' };
  const url = new URL(`${upstreams.test.kernel.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  const onprogress = (progress: Progress) => void heard.push(progress);
  const result = await client.callTool(
    { name: 'builder.build', arguments: args, _meta: { 'own.example/word': 'for the boundary alone' } },
    { ...(asksProgress ? { onprogress } : {}), resetTimeoutOnProgress: true },
  );
  await client.close();
  return { heard, unasked, result };
}

describe.each(revisions)('progress of an upstream tool, in revision %s', (revision) => {
  it('is reported to the caller who requested it, with only the members of the protocol', async () => {
    const { heard, unasked, result } = await called(revision, {});
    expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: 'step' })));
    expect(unasked).toEqual([]);
    expect(result.content).toEqual([{ type: 'text', text: 'built' }]);
  });

  it('is neither requested nor reported when the caller did not request it', async () => {
    const { heard, unasked } = await called(revision, {}, false);
    expect([heard, unasked]).toEqual([[], []]);
    expect(arrived.at(-1)?._meta?.progressToken).toBeUndefined();
  });

  it('is limited to 200 messages of 1000 characters', async () => {
    const { heard, result } = await called(revision, { steps: 220, text: 'x'.repeat(2_000) });
    expect(heard).toHaveLength(200);
    expect(heard.at(-1)?.message).toHaveLength(1_000);
    expect(result.isError).toBeUndefined();
  });

  it('is requested without the other `_meta` members of the caller', async () => {
    await called(revision, {});
    expect(JSON.stringify(arrived.at(-1))).not.toContain('for the boundary alone');
  });
});

describe('endless progress', () => {
  it('does not extend the timeout of a call, in either revision', async () => {
    const calls = await Promise.all(revisions.map((revision) => called(revision, { steps: 2, endless: true })));
    for (const { heard, result } of calls) {
      expect(heard.length).toBeGreaterThan(2);
      expect(result._meta).toMatchObject({ 'countersign/outcome': 'uncertain' });
    }
  });
});
