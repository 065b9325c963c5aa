import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { startConformanceServer } from './_conformance-server.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { headersOf, initialize, post } from './_session-clients.ts';
import { receiptsOf } from './_upstreams.ts';

const policy = `
format: countersign/policy.v1
name: streams
version: '1'
rules:
  - id: no-static
    effect: deny
    match: { tool: [test.resources/read], resource: ['test://static-text'] }
  - { id: all, effect: allow, match: { action: [tool.call] } }
`;
const times = { mcpSessionTimes: { streamTickMs: 100 } };
const watched = 'test://watched-resource';

let test: TestKernel;
let second: StartedKernel;
let upstream: Awaited<ReturnType<typeof startConformanceServer>>;
beforeAll(async () => {
  upstream = await startConformanceServer();
  const servers = [{ server_id: 'test', transport: 'http', trust_annotations: true, url: upstream.url }];
  test = await startTestKernel({
    env: { GOV_MCP_SERVERS: JSON.stringify({ servers }), GOV_MCP_LIST_MAX_AGE: '0' },
    overrides: times,
  });
  second = await startKernel(kernelConfigFrom(test.env), times);
  await test.activate('*', policy);
});
afterAll(async () => {
  await second.stop();
  await test.close();
  await upstream.close();
});

type Session = { headers: Record<string, string> };

async function newSession(named: Parameters<typeof headersOf>[0] = {}): Promise<Session> {
  const headers = headersOf(named);
  const answer = await post(test.kernel.url, initialize(), headers);
  return { headers: { ...headers, 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' } };
}

let requests = 0;
async function request({ headers }: Session, method: string, params: object, kernel = test.kernel) {
  const answer = await post(kernel.url, { jsonrpc: '2.0', id: (requests += 1), method, params }, headers);
  const text = await answer.text();
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data) as { result?: object; error?: { message: string } };
}

/** Opens the event stream of a session, and collects what arrives. */
async function opened(
  { headers }: Session,
  { kernel = test.kernel, lastId }: { kernel?: StartedKernel; lastId?: string } = {},
) {
  const stop = new AbortController();
  const last: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
  const answer = await fetch(`${kernel.url}/mcp`, {
    headers: { ...headers, accept: 'text/event-stream', ...last },
    signal: stop.signal,
  });
  let text = '';
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  })().catch(() => undefined);
  const messages = () =>
    [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as { method: string; params?: object },
    );
  return {
    status: answer.status,
    messages,
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    updates: () => messages().filter(({ method }) => method === 'notifications/resources/updated'),
    ended,
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** Reports changes until the stream has a message. The subscription reaches the server after a short time. */
const changedUntil = (holds: () => boolean) =>
  untilReachable(async () => {
    upstream.changed(watched);
    return await Promise.resolve(holds());
  });

describe('the event stream of a session of 2025-11-25', () => {
  verifies(
    'kn.mcp.server',
    'reports changes of a subscribed resource, whose subscription was sealed as a read',
    async () => {
      const session = await newSession({ session: 'subscribed' });
      const stream = await opened(session);
      expect(await request(session, 'resources/subscribe', { uri: watched })).toMatchObject({ result: {} });
      await changedUntil(() => stream.updates().length > 0);
      expect(stream.updates()[0]?.params).toEqual({ uri: watched });
      const sealed = await receiptsOf(test, 'subscribed');
      expect(sealed.map(({ tool, resource, outcome }) => [tool, resource, outcome ?? null])).toEqual([
        ['test.resources/read', watched, null],
        ['test.resources/read', watched, 'completed'],
      ]);
      await stream.close();
    },
  );

  it('reports nothing about a resource without a subscription, or after its end', async () => {
    const [session, without] = await Promise.all([newSession(), newSession({ tenant: 'globex' })]);
    const [stream, silent] = await Promise.all([opened(session), opened(without)]);
    await request(session, 'resources/subscribe', { uri: watched });
    await changedUntil(() => stream.updates().length > 0);
    await request(session, 'resources/unsubscribe', { uri: watched });
    await untilReachable(async () => {
      const before = stream.updates().length;
      upstream.changed(watched);
      await request(session, 'ping', {});
      return stream.updates().length === before;
    });
    expect(silent.messages()).toEqual([]);
    await Promise.all([stream.close(), silent.close()]);
  });

  it('refuses a subscription to a resource that the caller may not read', async () => {
    const session = await newSession();
    const answer = await request(session, 'resources/subscribe', { uri: 'test://static-text' });
    expect(answer.error?.message).toContain('DENY');
  });

  it('applies a subscription that another kernel received', async () => {
    const session = await newSession();
    const stream = await opened(session, { kernel: second });
    await request(session, 'resources/subscribe', { uri: watched });
    await changedUntil(() => stream.updates().length > 0);
    await stream.close();
  });

  it('keeps the subscriptions of a client that comes back to a kernel without them', async () => {
    const session = await newSession();
    const stream = await opened(session);
    await request(session, 'resources/subscribe', { uri: watched });
    await changedUntil(() => stream.updates().length > 0);
    const lastId = stream.lastId();
    await stream.close();
    const later = await startKernel(kernelConfigFrom(test.env), times);
    const stranger = await newSession({ principal: 'stranger' });
    const [again, foreign, fresh] = [
      await opened(session, { kernel: later, lastId }),
      await opened(stranger, { kernel: later, lastId }),
      await opened(await newSession({ principal: 'fresh' }), { kernel: later }),
    ];
    await changedUntil(() => again.updates().length > 0);
    expect([foreign.updates(), fresh.updates()]).toEqual([[], []]);
    await Promise.all([again.close(), foreign.close(), fresh.close()]);
    await later.stop();
  });

  it('reports list changes to callers whose lists changed, and no updates of a stopped resource', async () => {
    const [stopped, witness] = [await newSession({ tenant: 'initech' }), await newSession()];
    const [stream, witnessed] = [await opened(stopped), await opened(witness)];
    for (const session of [stopped, witness]) await request(session, 'resources/subscribe', { uri: watched });
    await changedUntil(() => stream.updates().length > 0 && witnessed.updates().length > 0);
    const changes = () => stream.messages().filter(({ method }) => method === 'notifications/resources/list_changed');
    await test.setFence('tool:initech/test.resources/read', 'freeze');
    await untilReachable(async () => changes().length === 1);
    const [before, of] = [stream.updates().length, witnessed.updates().length];
    await changedUntil(() => witnessed.updates().length > of + 3);
    expect(stream.updates()).toHaveLength(before);
    await test.setFence('tool:initech/test.resources/read', 'open');
    await untilReachable(async () => changes().length === 2);
    expect(witnessed.messages()).toEqual(witnessed.updates());
    await Promise.all([stream.close(), witnessed.close()]);
  });

  it.each([
    ['a fence on its tenant', 'frozen', () => test.setFence('tenant:frozen', 'freeze')],
    ['a fence on its agent', 'halted', () => test.setFence('agent:halted/agent', 'freeze')],
    ['a rule about the resource', 'ruled', () => test.activate('ruled', policy.replace('test://static-text', watched))],
  ])('reports no updates to a caller after %s', async (_what, tenant, stop) => {
    const [stopped, witness] = [await newSession({ tenant }), await newSession({ principal: tenant })];
    const [stream, witnessed] = [await opened(stopped), await opened(witness)];
    for (const session of [stopped, witness]) await request(session, 'resources/subscribe', { uri: watched });
    await changedUntil(() => stream.updates().length > 0 && witnessed.updates().length > 0);
    await stop();
    const furtherUpdates = async () => {
      const before = witnessed.updates().length;
      await changedUntil(() => witnessed.updates().length > before + 3);
    };
    await furtherUpdates(); // a round that began before the stop has ended after these
    const before = stream.updates().length;
    await furtherUpdates();
    expect(stream.updates()).toHaveLength(before);
    await Promise.all([stream.close(), witnessed.close()]);
  });

  it('ends when the access key of its caller is revoked', async () => {
    const operator = test.as('acme', 'operator');
    const body = { kind: 'agent', principal_id: 'keyed' } as never; // the kernel fills in the defaults
    const { key, key_id } = (await operator.createAccessKey({ body })).body;
    const headers = { authorization: `Bearer ${key}` };
    const answer = await post(test.kernel.url, initialize(), headers);
    const session = { headers: { ...headers, 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' } };
    const stream = await opened(session);
    expect(stream.status).toBe(200);
    await operator.revokeAccessKey({ params: { key_id } });
    await stream.ended;
  });

  it('is refused without a session, with the token of another principal, and above eight streams', async () => {
    const session = await newSession({ principal: 'many' });
    const { 'mcp-session-id': token = '' } = session.headers;
    const without = await opened({ headers: headersOf({ principal: 'many' }) });
    const foreign = await opened({ headers: { ...headersOf({ principal: 'mallory' }), 'mcp-session-id': token } });
    const tampered = await opened({
      headers: { ...session.headers, 'mcp-session-id': token.replace(/.{4}$/, 'AAAA') },
    });
    expect([without.status, foreign.status, tampered.status]).toEqual([405, 404, 404]);
    const streams = [];
    for (let nth = 0; nth < 8; nth += 1) streams.push(await opened(session));
    expect((await opened(session)).status).toBe(429);
    const few = await opened(await newSession({ principal: 'few' }));
    expect(few.status).toBe(200);
    await Promise.all([few, ...streams].map(async (stream) => stream.close()));
  });
});

describe('logging/setLevel of a session', () => {
  it('applies to later calls at every kernel', async () => {
    const session = await newSession();
    const linesOf = async (kernel: StartedKernel) => {
      const message = {
        ...{ jsonrpc: '2.0', id: (requests += 1), method: 'tools/call' },
        params: { name: 'test.tool_with_logging', arguments: {} },
      };
      const text = await (await post(kernel.url, message, session.headers)).text();
      return [...text.matchAll(/notifications\/message/g)].length;
    };
    expect(await linesOf(second)).toBe(3);
    await request(session, 'logging/setLevel', { level: 'error' });
    expect(await linesOf(test.kernel)).toBe(0);
    await untilReachable(async () => (await linesOf(second)) === 0);
    await request(session, 'logging/setLevel', { level: 'debug' }, second);
    await untilReachable(async () => (await linesOf(test.kernel)) === 3);
  });
});
