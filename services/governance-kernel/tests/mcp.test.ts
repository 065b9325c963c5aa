import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser } from '@countersign/testkit/browser';
import { verifies } from '@countersign/testkit/verifies';
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ClientOptions,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { untilReachable } from '@countersign/testkit/until';
import { adminKey } from './_kernel.ts';
import {
  approve,
  fileSystemServer,
  processServer,
  receiptsOf,
  startUpstreams,
  upstreamKey,
  type Upstreams,
} from './_upstreams.ts';

let upstreams: Upstreams;
let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-files-')));
  await writeFile(join(folder, 'hello.txt'), 'hello from a real server');
  const files = {
    server_id: 'files',
    trust_annotations: true,
    transport: 'stdio',
    command: process.execPath,
    args: [fileSystemServer(), folder],
  };
  upstreams = await startUpstreams({ GOV_MCP_TIMEOUT: '5s' }, [files, processServer]);
});
afterAll(async () => {
  await upstreams.close();
  await rm(folder, { recursive: true, force: true });
});

let sessions = 0;
const newSession = () => `mcp-session-${(sessions += 1)}`;
const endpoint = () => new URL(`${upstreams.test.kernel.url}/mcp`);
const headersOf = (session: string, tenant = 'acme') => ({
  authorization: `Bearer ${adminKey}`,
  'x-gov-tenant-id': tenant,
  'x-gov-session-id': session,
});

const modes = { modern: { pin: '2026-07-28' }, legacy: 'legacy' } as const;
async function connected(
  mode: keyof typeof modes,
  session = newSession(),
  { tenant, ...options }: ClientOptions & { tenant?: string } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: modes[mode] }, ...options });
  await client.connect(
    new StreamableHTTPClientTransport(endpoint(), { requestInit: { headers: headersOf(session, tenant) } }),
  );
  return client;
}
const textOf = (result: object) => {
  const [first] = 'content' in result && Array.isArray(result.content) ? (result.content as { text?: string }[]) : [];
  return first?.text ?? '';
};
const receiptIdOf = (result: CallToolResult) => result._meta?.['countersign/receipt_id'];

describe('the governed MCP server', () => {
  verifies(
    'kn.mcp.server',
    'lists the same tools to clients of both revisions, and calls the real file-system server for them',
    async () => {
      for (const [mode, version] of [
        ['modern', '2026-07-28'],
        ['legacy', '2025-11-25'],
      ] as const) {
        const session = newSession();
        const client = await connected(mode, session);
        expect(client.getNegotiatedProtocolVersion()).toBe(version);
        const { tools } = await client.listTools();
        const names = tools.map(({ name }) => name);
        expect(names).toEqual([...names].sort());
        expect(names).toEqual(
          expect.arrayContaining(['files__read_text_file', 'notes__read_note', 'proc__environment']),
        );
        const result = await client.callTool({
          name: 'files.read_text_file',
          arguments: { path: join(folder, 'hello.txt') },
        });
        expect(textOf(result)).toBe('hello from a real server');
        const [decision, outcome] = await receiptsOf(upstreams.test, session);
        expect(decision).toMatchObject({
          tool: 'files.read_text_file',
          verdict: 'ALLOW',
          receipt_id: receiptIdOf(result),
        });
        expect(outcome).toMatchObject({ kind: 'outcome', outcome: 'completed' });
        await client.close();
      }
    },
  );

  verifies('kn.mcp.server', 'serves tool lists and tool calls to a client of SDK v1', async () => {
    const client = new LegacyClient({ name: 'v1', version: '1' });
    await client.connect(new LegacyTransport(endpoint(), { requestInit: { headers: headersOf(newSession()) } }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    const result = await client.callTool({
      name: 'files.read_text_file',
      arguments: { path: join(folder, 'hello.txt') },
    });
    expect(textOf(result)).toBe('hello from a real server');
    await client.close();
  });

  it('returns how long a list may be cached, and for whom', async () => {
    const client = await connected('modern');
    expect(await client.listTools()).toMatchObject({ ttlMs: 10_000, cacheScope: 'private' });
    await client.close();
  });

  verifies(
    'kn.mcp.server',
    'returns a denial as a tool result with reason and receipt, without calling the tool',
    async () => {
      const client = await connected('modern');
      const result = await client.callTool({ name: 'notes.delete_note', arguments: { id: 'a' } });
      expect(result).toMatchObject({
        isError: true,
        _meta: { 'countersign/verdict': 'DENY', 'countersign/reason_code': 'POLICY_DENIED' },
      });
      expect(textOf(result)).toContain(`Receipt ${String(receiptIdOf(result))}`);
      expect(upstreams.notes.calls.filter(({ tool }) => tool === 'delete_note')).toEqual([]);
      await client.close();
    },
  );

  it.each([
    ['notes.no_such_tool', {}, 'TOOL_UNKNOWN'],
    ['nobody.home', {}, 'TOOL_UNKNOWN'],
  ])('denies %s with the arguments %j and the reason %s', async (name, args, reason) => {
    const client = await connected('modern');
    expect(await client.callTool({ name, arguments: args })).toMatchObject({
      isError: true,
      _meta: { 'countersign/reason_code': reason },
    });
    await client.close();
  });

  // gates.test.ts covers the same gate on all other routes.
  verifies('kn.fc.args', 'denies and seals arguments that break the pinned schema, and never sends them', async () => {
    const session = newSession();
    const client = await connected('modern', session);
    const sent = upstreams.notes.calls.length;
    for (const args of [{ id: 7 }, {}, { id: null }, { id: ['a'] }])
      expect(await client.callTool({ name: 'notes.read_note', arguments: args })).toMatchObject({
        isError: true,
        _meta: { 'countersign/verdict': 'DENY', 'countersign/reason_code': 'SCHEMA_VIOLATION' },
      });
    expect(upstreams.notes.calls.length).toBe(sent);
    const sealed = await receiptsOf(upstreams.test, session);
    expect(sealed.map(({ kind, reason_code }) => [kind, reason_code])).toEqual(
      Array(4).fill(['decision', 'SCHEMA_VIOLATION']),
    );
    await client.close();
  });

  it('sends a client that opens URLs to the approval; once approved, the same call runs exactly once', async () => {
    const session = newSession();
    const client = await connected('modern', session, { capabilities: { elicitation: { url: {} } } });
    const requests: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode !== 'url') throw new Error('URL mode was declared');
      requests.push(params.url);
      await approve(upstreams.test, /apr_\w+/.exec(params.url)?.[0] ?? '');
      return { action: 'accept' };
    });
    const paid = upstreams.notes.calls.length;
    expect(textOf(await client.callTool({ name: 'notes.pay', arguments: { amount: 5 } }))).toBe('Paid 5');
    expect(requests).toHaveLength(1);
    expect(upstreams.notes.calls).toHaveLength(paid + 1);
    await client.close();
  });

  it('opens the approval page for a person, and returns their reason for a denial to the agent', async () => {
    const client = await connected('modern', newSession(), { capabilities: { elicitation: { url: {} } } });
    const body = { kind: 'approver', principal_id: 'alice', expires_in_days: 1 } as never; // unbranded strings
    const { key } = (await upstreams.test.as('acme').createAccessKey({ body })).body;
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const url = params.mode === 'url' ? new URL(params.url).pathname : '';
      const browser = new Browser(upstreams.test.kernel.url);
      const shown = await browser.submit((await browser.open(url)).form('sign-in'), { key });
      await browser.submit(shown.form(url), { decision: 'deny', reason: 'Ask for an invoice first.' });
      return { action: 'accept' };
    });
    const result = await client.callTool({ name: 'notes.pay', arguments: { amount: 7 } });
    expect(result).toMatchObject({ isError: true, _meta: { 'countersign/reason_code': 'APPROVAL_REJECTED' } });
    expect(textOf(result)).toContain('Ask for an invoice first.');
    await client.close();
  });

  it('stops asking a client that accepts the request, if the approval stays pending', async () => {
    const client = await connected('modern', newSession(), { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept' }));
    const result = await client.callTool({ name: 'notes.pay', arguments: { amount: 6 } });
    expect(result).toMatchObject({ isError: true, _meta: { 'countersign/verdict': 'ESCALATE' } });
    await client.close();
  });

  it('returns the pending approval to a client that opens no URLs, and runs the repeated call once approved', async () => {
    const client = await connected('legacy');
    const pay = () => client.callTool({ name: 'notes.pay', arguments: { amount: 9 } });
    const waiting = await pay();
    const approvalId = String(waiting._meta?.['countersign/approval_id']);
    expect(textOf(waiting)).toContain(approvalId);
    await approve(upstreams.test, approvalId);
    expect(textOf(await pay())).toBe('Paid 9');
    await client.close();
  });

  it('seals an outcome as failed when the tool reports an error, and as uncertain when it never answers', async () => {
    const session = newSession();
    const client = await connected('modern', session);
    expect(await client.callTool({ name: 'notes.read_note', arguments: { id: 'missing' } })).toMatchObject({
      isError: true,
    });
    expect(await client.callTool({ name: 'notes.hang', arguments: {} })).toMatchObject({
      isError: true,
      _meta: { 'countersign/outcome': 'uncertain' },
    });
    expect((await receiptsOf(upstreams.test, session)).map(({ outcome }) => outcome)).toEqual([
      undefined,
      'failed',
      undefined,
      'uncertain',
    ]);
    await client.close();
  });

  verifies('kn.budget', 'counts a call in full against its budget when the server never answers', async () => {
    const tenant = 'limited';
    await upstreams.test.as(tenant).putBudget({
      params: { budget_id: 'hang' },
      body: {
        subject: 'tool:notes.hang',
        window: 'total',
        currency: null,
        spend_limit_minor: null,
        tool_call_limit: 1,
        egress_limit_bytes: null,
        write_limit: null,
        approval_required_above_minor: null,
      },
    });
    const client = await connected('modern', newSession(), { tenant });
    const hang = async () => (await client.callTool({ name: 'notes.hang', arguments: {} }))._meta;
    expect(await hang()).toMatchObject({ 'countersign/outcome': 'uncertain' });
    expect(await hang()).toMatchObject({ 'countersign/reason_code': 'BUDGET_EXCEEDED' });
    await client.close();
  });

  it('withholds an answer over the size limit', async () => {
    const client = await connected('modern');
    const result = await client.callTool({ name: 'notes.fill', arguments: { bytes: 9_000_000 } });
    expect(result.isError).toBe(true);
    expect(textOf(result).length).toBeLessThan(200);
    await client.close();
  });

  it('responds as the protocol requires to missing credentials, foreign origins and GET requests', async () => {
    const init = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
    const send = (headers: Record<string, string>, rest: RequestInit = init) =>
      fetch(endpoint(), {
        ...rest,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      });
    const stranger = await send({});
    expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await stranger.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { data: { code: 'CREDENTIALS_REQUIRED' } },
    });
    expect((await send({ ...headersOf('s'), origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ ...headersOf('s'), origin: 'http://localhost:3000' })).status).toBe(200);
    expect((await send({ ...headersOf('s'), accept: 'text/event-stream' }, { method: 'GET' })).status).toBe(405);
    const described = await send({ ...headersOf('s'), accept: 'application/json' }, { method: 'GET' });
    expect(await described.json()).toMatchObject({
      server_name: 'countersign',
      supported_protocol_versions: ['2026-07-28', '2025-11-25'],
    });
  });
});

describe('upstream MCP servers', () => {
  it('get PATH, their own home and their declared variables, but no secret of the kernel', async () => {
    const client = await connected('modern');
    const { HOME, PATH, DECLARED, ...rest } = JSON.parse(
      textOf(await client.callTool({ name: 'proc.environment', arguments: {} })),
    ) as Record<string, string>;
    expect([DECLARED, PATH]).toEqual(['yes', process.env['PATH']]);
    expect(HOME).toMatch(/countersign-mcp-.*\/proc$/);
    expect(Object.keys(rest).sort()).toEqual(['LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'USER']);
    await client.close();
  });

  it('receive the headers declared for them and none from the caller', async () => {
    const client = await connected('modern');
    await client.callTool({ name: 'notes.read_note', arguments: { id: 'a' } });
    const seen = JSON.stringify(upstreams.notes.requests);
    expect(seen).toContain('declared-for-notes');
    expect(seen).not.toMatch(new RegExp(`${adminKey}|${upstreamKey}|x-gov`, 'i'));
    await client.close();
  });

  it('are restarted after a crash, and the crashed call is sealed as uncertain', async () => {
    const session = newSession();
    const client = await connected('modern', session);
    const pid = async () => textOf(await client.callTool({ name: 'proc.pid', arguments: {} }));
    const before = await pid();
    expect(await client.callTool({ name: 'proc.crash', arguments: {} })).toMatchObject({
      _meta: { 'countersign/outcome': 'uncertain' },
    });
    // The server restarts after a variable time. Until then its calls are refused.
    await untilReachable(async () => Number(await pid()) > 0);
    expect(await pid()).not.toBe(before);
    await client.close();
  });
});
