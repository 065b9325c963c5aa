import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import {
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type ClientOptions,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startConformanceServer } from './_conformance-server.ts';
import { startEverything } from './_everything.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';
import { receiptsOf } from './_upstreams.ts';

/** Allows all calls except one denied prompt and one resource that needs an approval. */
const policy = `
format: countersign/policy.v1
name: operations
version: '1'
rules:
  - id: no-image
    effect: deny
    match: { tool: [test.prompts/prompt_with_image] }
  - id: asks-a-person
    effect: escalate
    match: { tool: [test.resources/read], resource: ['test://watched-resource'] }
    reason: A person confirms this one.
  - id: all
    effect: allow
    match: { action: [tool.call] }
`;

let test: TestKernel;
let upstream: Awaited<ReturnType<typeof startConformanceServer>>;
let everything: Awaited<ReturnType<typeof startEverything>>;
beforeAll(async () => {
  [upstream, everything] = await Promise.all([startConformanceServer(), startEverything()]);
  const declared = { transport: 'http', trust_annotations: true };
  const servers = [
    { server_id: 'test', ...declared, url: upstream.url },
    { server_id: 'twin', ...declared, url: upstream.url },
    { server_id: 'everything', ...declared, url: everything.url },
  ];
  test = await startTestKernel({
    env: { GOV_MCP_SERVERS: JSON.stringify({ servers }), GOV_MCP_LIST_MAX_AGE: '0' },
  });
  await test.activate('*', policy);
});
afterAll(async () => {
  await test.close();
  await upstream.close();
  everything.stop();
});

let sessions = 0;
const newSession = () => `operations-${(sessions += 1)}`;
const headersOf = (session: string, principal = 'reader') => ({
  authorization: `Bearer ${adminKey}`,
  'x-gov-tenant-id': 'acme',
  'x-gov-principal-id': principal,
  'x-gov-session-id': session,
});
const endpoint = () => new URL(`${test.kernel.url}/mcp`);

async function connected(session: string, { principal, ...options }: ClientOptions & { principal?: string } = {}) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options },
  );
  const requestInit = { headers: headersOf(session, principal) };
  await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit }));
  return client;
}

const sealed = async (session: string) =>
  (await receiptsOf(test, session)).map(({ kind, tool, verdict, outcome }) => [kind, tool, outcome ?? verdict]);

const problemOf = (pending: Promise<unknown>) =>
  pending.then(
    () => null,
    (error: unknown) => (error instanceof ProtocolError ? { code: error.code, data: error.data } : error),
  );

describe('resources and prompts of MCP servers', () => {
  verifies('kn.mcp.server', 'each resource read and each prompt request is decided, sealed and settled', async () => {
    const session = newSession();
    const client = await connected(session);
    const { contents } = await client.readResource({ uri: 'test+test://static-text' });
    expect(contents).toMatchObject([{ text: 'The text of the static resource.' }]);
    await client.getPrompt({ name: 'test__prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
    expect(await sealed(session)).toEqual([
      ['decision', 'test.resources/read', 'ALLOW'],
      ['outcome', 'test.resources/read', 'completed'],
      ['decision', 'test.prompts/prompt_with_arguments', 'ALLOW'],
      ['outcome', 'test.prompts/prompt_with_arguments', 'completed'],
    ]);
    await client.close();
  });

  it('a denied prompt is not listed, and a request for it is refused with a receipt and never sent', async () => {
    const session = newSession();
    const client = await connected(session);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('test__prompt_with_arguments');
    expect(prompts.map(({ name }) => name)).not.toContain('test__prompt_with_image');
    expect(prompts.map(({ name }) => name)).not.toContain('test__unstorable');
    expect(await problemOf(client.getPrompt({ name: 'test__prompt_with_image' }))).toMatchObject({
      code: -32_600,
      data: { 'countersign/verdict': 'DENY' },
    });
    expect(await sealed(session)).toEqual([['decision', 'test.prompts/prompt_with_image', 'DENY']]);
    await client.close();
  });

  it('an escalated read opens an approval and returns its link', async () => {
    const client = await connected(newSession());
    const problem = await problemOf(client.readResource({ uri: 'test+test://watched-resource' }));
    expect(problem).toMatchObject({
      data: { 'countersign/verdict': 'ESCALATE', 'countersign/approve_url': expect.stringContaining('http') },
    });
    await client.close();
  });

  it('a URI that two servers share is listed with the server name and refused without it', async () => {
    const client = await connected(newSession());
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toContain('test+test://static-text');
    expect(uris).toContain('twin+test://static-text');
    const problem = await problemOf(client.readResource({ uri: 'test://static-text' }));
    expect(problem).toMatchObject({ code: -32_602, data: { uri: 'test://static-text' } });
    await client.close();
  });
});

describe('an unknown prompt or resource', () => {
  it('is refused with a receipt whose ID is in the error', async () => {
    const session = newSession();
    const client = await connected(session);
    const requests = [
      client.getPrompt({ name: 'no such prompt' }),
      client.readResource({ uri: 'test://static-text' }),
      client.complete({ ref: { type: 'ref/prompt', name: 'none' }, argument: { name: 'a', value: '' } }),
    ];
    for (const request of requests)
      expect(await problemOf(request)).toMatchObject({
        code: -32_602,
        data: { 'countersign/receipt_id': expect.stringMatching(/^rcp_/) },
      });
    const receipts = (await receiptsOf(test, session)).filter(({ kind }) => kind === 'decision');
    expect(receipts.map(({ tool, resource }) => [tool, resource]).sort()).toEqual([
      ['mcp.prompts/get', null],
      ['mcp.prompts/get', null],
      ['mcp.resources/read', 'test://static-text'],
    ]);
    await client.close();
  });
});

describe('a server that requests input', () => {
  const name = 'test.input_required_result_request_state';
  const answer = (): Promise<ElicitResult> => Promise.resolve({ action: 'accept', content: { ok: 'yes' } });

  it('is answered in a round with its own decision and receipts, and its name precedes the question', async () => {
    const session = newSession();
    const client = await connected(session, { capabilities: { elicitation: { form: {} } } });
    const requests: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      requests.push(params.message);
      return answer();
    });
    expect((await client.callTool({ name, arguments: {} })).content).toEqual([{ type: 'text', text: 'state-ok' }]);
    expect(requests).toEqual(['Server "test" asks: Please confirm']);
    const receipts = await receiptsOf(test, session);
    expect(receipts.map(({ kind }) => kind)).toEqual(['decision', 'outcome', 'decision', 'outcome']);
    expect(receipts[2]).toMatchObject({ tool: name, resource: expect.stringMatching(/^#input=sha256:/) });
    await client.close();
  });

  it('gets no answer when another caller or another call presents its request state', async () => {
    const session = newSession();
    const options = { capabilities: { elicitation: { form: {} } }, inputRequired: { autoFulfill: false } };
    const [client, second] = [
      await connected(session, options),
      await connected(session, { ...options, principal: 'other' }),
    ];
    const first = await client.callTool({ name, arguments: {} }, { allowInputRequired: true });
    const next = { requestState: first['requestState'], inputResponses: { confirm: await answer() } };
    const before = (await receiptsOf(test, session)).length;
    const refused = { code: -32_602, data: { reason: 'invalid_request_state' } };
    const calls: [Client, { name: string; arguments: object }][] = [
      [second, { name, arguments: {} }],
      [client, { name, arguments: { more: 1 } }],
      [client, { name: 'twin.input_required_result_request_state', arguments: {} }],
    ];
    for (const [by, call] of calls) {
      const pending = by.request({ method: 'tools/call', params: { ...call, ...next } });
      expect(await problemOf(pending)).toMatchObject(refused);
    }
    expect(await receiptsOf(test, session)).toHaveLength(before);
    await Promise.all([client.close(), second.close()]);
  });

  it('is refused when it requests the use of the model of the caller, and the answer names the reason', async () => {
    const client = await connected(newSession(), { capabilities: { elicitation: {}, sampling: {} } });
    const result = await client.callTool({ name: 'test.input_required_result_sampling', arguments: {} });
    expect(result).toMatchObject({ isError: true, _meta: { 'countersign/outcome': 'failed' } });
    expect(JSON.stringify(result.content)).toContain(
      'requires capabilities that Countersign or the client does not offer: sampling',
    );
    await client.close();
  });
});

it('the older SDK reads resources and prompts of the npm package server-everything', async () => {
  const client = new LegacyClient({ name: 'legacy', version: '1' });
  await client.connect(new LegacyTransport(endpoint(), { requestInit: { headers: headersOf(newSession()) } }));
  const { resources } = await client.listResources();
  const own = resources.find(({ uri }) => uri.startsWith('demo://'));
  expect((await client.readResource({ uri: own?.uri ?? '' })).contents).toHaveLength(1);
  const { prompts } = await client.listPrompts();
  const simple = prompts.find(({ name }) => name.startsWith('everything__') && name.includes('simple'));
  expect((await client.getPrompt({ name: simple?.name ?? '' })).messages.length).toBeGreaterThan(0);
  await client.close();
});
