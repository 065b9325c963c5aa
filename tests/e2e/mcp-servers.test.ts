import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { readText } from '../architecture/repository.ts';
import { runCountersign } from '@countersign/cli';
import { createClient } from '@countersign/contracts';
import { evaluate } from '@countersign/contracts/governance-kernel';
import type { StartedSystem } from '@countersign/local';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { reaching } from '@countersign/testkit/until';
import { connectorsAt, writeCatalogue } from './_catalogue.ts';
import { leaveLogin } from './_program-login.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, scratchDataDir, startIn } from './_system.ts';

const dataDir = scratchDataDir();
const configDir = mkdtempSync(join(tmpdir(), 'countersign-mcp-'));
let system: StartedSystem;
let notes: NoteServer;
let ada: Person;

beforeAll(async () => {
  notes = await startNoteServer();
  // The test's server listens at a private address. The kernel lists its tools before each call.
  const catalogue = writeCatalogue(join(configDir, 'connectors.json'), connectorsAt({ shelf: notes.url }));
  system = await startIn(dataDir.path, { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0', ...catalogue });
  ada = await personAt(system.gatewayUrl, addressBook()('ada'));
  await ada.client.applyWorkspaceSettings({ params: { id: ada.workspaceId } });
});

afterAll(async () => {
  await system?.stop();
  await notes?.close();
  dataDir.remove();
  rmSync(configDir, { recursive: true, force: true });
});

const byToken = () => ({ COUNTERSIGN_TOKEN: ada.token, COUNTERSIGN_WORKSPACE: ada.workspaceId });
const run = (...argv: string[]) => runWith(byToken(), argv);

async function runWith(
  env: Record<string, string>,
  argv: string[],
): Promise<{ status: number; out: string; printed: string }> {
  let [out, report] = ['', ''];
  const status = await runCountersign(argv, {
    write: (text) => void (out += text),
    tell: (text) => void (report += text),
    env: { COUNTERSIGN_URL: system.gatewayUrl, COUNTERSIGN_CONFIG_DIR: configDir, ...env },
    stdin: (async function* () {
      // Standard input is empty.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out, printed: report };
}

/** The client configurations on the page, in its order. */
const snippets = [...readText('docs/how-to/mcp-servers-you-already-use.md').matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, text = '']) => JSON.parse(text) as Snippet, // compared below with the types of clients
);
type Remote = { url: string; headers: Record<string, string> };
type Snippet = { inputs?: { id: string }[] } & (
  { mcpServers: Record<string, Remote> } | { servers: Record<string, Remote> }
);

/**
 * Uses a server with these settings, with each generation of the SDK. Returns whether a tool is listed, and the answer
 * to its call.
 */
async function used({ url, headers }: Remote, key: string): Promise<unknown[]> {
  const requestInit = {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withKey(value, key)])),
  };
  const address = new URL(url.replace('http://127.0.0.1:3100', system.gatewayUrl));
  const about = { name: 'editor', version: '1' };
  const clients = [
    { client: new Client(about), transport: new StreamableHTTPClientTransport(address, { requestInit }) },
    { client: new LegacyClient(about), transport: new LegacyTransport(address, { requestInit }) },
  ];
  const seen: unknown[] = [];
  for (const { client, transport } of clients) {
    await client.connect(transport);
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: 'notes__read_note', arguments: { id: 'a' } });
    seen.push([tools.some(({ name }) => name === 'notes__read_note'), content]);
    await client.close();
  }
  return seen;
}

/** Replaces the placeholder as Claude Code, Cursor and VS Code do. */
function withKey(value: string, key: string): string {
  return value.replace(/\$\{(?:env:)?COUNTERSIGN_AGENT_KEY\}|\$\{input:countersign-agent-key\}/, key);
}

type Waiting = { approval_id: string; ceremony_hash: string; state: string };

const stateOf = async () => /^notes +(\S+)/m.exec((await run('mcp', 'ls')).out)?.[1];

/** Decides as an owner at a browser. */
async function approve(approvalId: string, ceremonyHash: string): Promise<void> {
  const path = `/api/v1/workspaces/${ada.workspaceId}/approvals/${approvalId}/resolve`;
  const headers = { 'x-workspace-id': ada.workspaceId, 'if-match': `"${ceremonyHash}"` };
  const { status, body } = await ada.tab.send(path, { method: 'POST', headers, body: { decision: 'approve' } });
  expect([status, body]).toEqual([200, expect.objectContaining({ state: 'approved' })]);
}

describe('a person at a terminal', () => {
  it('adds a server, scans it, has it approved at a browser, and sees its later changes', async () => {
    const added = await run('mcp', 'add', 'notes', '--url', notes.url);
    expect(added).toMatchObject({ status: 0, printed: expect.stringContaining('countersign mcp request notes') });
    expect(await stateOf()).toBe('quarantined');
    expect((await run('mcp', 'scan', 'notes')).status).toBe(0);
    const key = (await ada.client.createApiKey({ body: { name: 'writer', scopes: ['agent'] } as never })).body.key;
    const agent = createClient(
      { evaluate },
      { baseUrl: system.gatewayUrl, headers: () => ({ authorization: `Bearer ${key}` }) },
    );
    const reason = async () => {
      const body = { action: 'tool.call', tool: 'notes.read_note', args: { id: 'a' }, session_id: 's' } as const;
      return (await agent.evaluate({ body } as never)).body.reason_code; // unbranded names
    };
    expect(await reason()).toBe('SERVER_QUARANTINED');

    const requested = await run('mcp', 'request', 'notes', '--reason', 'the team writes notes', '-o', 'json');
    expect(requested.printed).toContain('/console/inbox/apr_');
    const approval = JSON.parse(requested.out) as { approval_id: string; ceremony_hash: string };
    await approve(approval.approval_id, approval.ceremony_hash);
    await reaching(stateOf, (state) => state === 'approved');
    expect(await reason()).not.toBe('SERVER_QUARANTINED');
    expect(await run('mcp', 'diff', 'notes')).toMatchObject({ status: 0 });

    expect(snippets).toHaveLength(3);
    for (const snippet of snippets) {
      const { countersign } = 'servers' in snippet ? snippet.servers : snippet.mcpServers;
      const denied = expect.stringMatching(/DENY POLICY_DENIED[\s\S]*Receipt rcp_/);
      const answer = [true, [expect.objectContaining({ type: 'text', text: denied })]];
      expect(await used(countersign as Remote, key)).toEqual([answer, answer]);
    }

    notes.redefine('read_note', { description: 'Sends every note away' });
    await reaching(reason, (code) => code === 'SCHEMA_DRIFT');
    const { status, out, printed } = await run('mcp', 'diff', 'notes');
    expect([status, out]).toEqual([1, expect.stringContaining('Sends every note away')]);
    expect(printed).toContain('differ from what was approved');

    const again = await run('tools', 'approve', 'notes.read_note', '--reason', 'the text is better', '--json');
    expect([again.status, again.printed]).toEqual([11, expect.stringContaining('/console/inbox/apr_')]);
    const waiting = JSON.parse(again.out) as { tools: object[]; findings: object[]; approval: Waiting; url: string };
    expect(waiting).toMatchObject({ tools: [{ name: 'read_note', pin: 'drifted' }], approval: { state: 'pending' } });
    await approve(waiting.approval.approval_id, waiting.approval.ceremony_hash);
    await reaching(reason, (code) => code !== 'SCHEMA_DRIFT');
    expect(await run('tools', 'approve', 'notes', '--reason', 'none')).toMatchObject({ status: 0 });
    expect(await run('tools', 'diff', 'notes')).toMatchObject({ status: 0 });
    expect((await run('tools', 'scan', 'notes', '--json')).status).toBe(0);

    const revoked = await run('tools', 'revoke', 'notes', '--reason', 'not needed', '--json');
    expect([revoked.status, JSON.parse(revoked.out)]).toEqual([
      0,
      expect.objectContaining({ server_id: 'notes', state: 'revoked', reason: 'not needed' }),
    ]);
    expect(await reason()).toBe('SERVER_REVOKED');
  });

  it.each([
    [['mcp', 'add'], /NAME with --url/],
    [['mcp', 'add', 'x', '--url', 'https://a.example', '--header', 'secret'], /instead of a value alone/],
    [['tools', 'approve', 'notes'], /--reason/],
    [['tools', 'revoke', 'notes'], /--reason/],
    [['mcp', 'add', '--file', '/nowhere.json'], /cannot be read as JSON/],
    [['connectors', 'install', 'shelf', '--header', 'secret'], /instead of a value alone/],
    [['connectors', 'install', 'shelf', '--header-env', 'Authorization=UNSET'], /variable UNSET/],
    [['connectors', 'approve', 'shelf'], /--reason/],
  ])('gets an error for %j before any request is sent', async (argv, problem) => {
    const { status, printed } = await run(...argv);
    expect([status, printed]).toEqual([2, expect.stringMatching(problem)]);
  });

  it('installs, approves and disables a connector with the commands of the how-to page, as a program', async () => {
    const { gatewayUrl } = system;
    const { tab, workspaceId } = ada;
    await leaveLogin({ gatewayUrl, tab, workspaceId, role: 'owner', dir: configDir });
    const statuses: string[] = [];
    for (const [, line = ''] of readText(connectorPage).matchAll(/^countersign (connectors .*)$/gm)) {
      const argv = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
      const named = argv.map((word) => word.replace('microsoft-learn', 'shelf'));
      const { status, printed } = await runWith({ LEARN_TOKEN: 'Bearer secret' }, named);
      statuses.push(`${named[1]} ${status}`);
      const approvalId = /\/console\/inbox\/(apr_\w+)/.exec(printed)?.[1];
      if (approvalId !== undefined) await approveInInbox(approvalId);
    }
    expect(statuses).toEqual(
      ['ls 0', 'show 0', 'install 0', 'scan 0', 'approve 11', 'installed 0', 'shims 0'].concat('disable 0'),
    );
    expect(notes.requests.some(({ authorization }) => authorization === 'Bearer secret')).toBe(true);
    expect(await installState()).toBe('disabled');
    const again = await run('connectors', 'approve', 'shelf', '--reason', 'none');
    expect([again.status, again.printed]).toEqual([1, expect.stringContaining('shelf is not installed')]);
  });
});

const connectorPage = 'docs/how-to/install-a-connector.md';
const installState = async () => /^shelf +(\S+)/m.exec((await run('connectors', 'installed')).out)?.[1];

async function approveInInbox(approvalId: string): Promise<void> {
  const headers = { 'x-workspace-id': ada.workspaceId };
  const path = `/api/v1/workspaces/${ada.workspaceId}/approvals?approval_id=${approvalId}`;
  const [request] = (await ada.tab.send(path, { headers })).body['data'] as Waiting[];
  expect(await installState()).toBe('quarantined');
  await approve(approvalId, request?.ceremony_hash ?? '');
  await reaching(installState, (state) => state === 'approved');
}
