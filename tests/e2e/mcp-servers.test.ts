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
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, scratchDataDir, startIn } from './_system.ts';

const dataDir = scratchDataDir();
const configDir = mkdtempSync(join(tmpdir(), 'countersign-mcp-'));
const timeoutMs = 240_000;
let system: StartedSystem;
let notes: NoteServer;
let ada: Person;

beforeAll(async () => {
  notes = await startNoteServer();
  // The server of the test listens at a private address, and the kernel lists its tools for each call.
  system = await startIn(dataDir.path, { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0' });
  ada = await personAt(system.gatewayUrl, addressBook()('ada'));
  await ada.client.applyWorkspaceSettings({ params: { id: ada.workspaceId } });
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  await notes?.close();
  dataDir.remove();
  rmSync(configDir, { recursive: true, force: true });
}, timeoutMs);

async function run(...argv: string[]): Promise<{ status: number; out: string; told: string }> {
  let [out, told] = ['', ''];
  const status = await runCountersign(argv, {
    write: (text) => void (out += text),
    tell: (text) => void (told += text),
    env: {
      ...{ COUNTERSIGN_URL: system.gatewayUrl, COUNTERSIGN_CONFIG_DIR: configDir },
      ...{ COUNTERSIGN_TOKEN: ada.token, COUNTERSIGN_WORKSPACE: ada.workspaceId },
    },
    stdin: (async function* () {
      // Nothing is piped in.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out, told };
}

/** The files of clients on the page, in its order. */
const snippets = [...readText('docs/how-to/mcp-servers-you-already-use.md').matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, text = '']) => JSON.parse(text) as Snippet, // compared with what clients read below
);
type Remote = { url: string; headers: Record<string, string> };
type Snippet = { inputs?: { id: string }[] } & (
  { mcpServers: Record<string, Remote> } | { servers: Record<string, Remote> }
);

/** For each generation of the SDK, with these settings: is a tool of the server listed, and what does a call of it answer? */
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

/** Claude Code, Cursor and VS Code replace it in this way. */
function withKey(value: string, key: string): string {
  return value.replace(/\$\{(?:env:)?COUNTERSIGN_AGENT_KEY\}|\$\{input:countersign-agent-key\}/, key);
}

const stateOf = async () => /^notes +(\S+)/m.exec((await run('mcp', 'ls')).out)?.[1];

/** Decides as an owner at a browser does. */
async function approve(approvalId: string, ceremonyHash: string): Promise<void> {
  const path = `/api/v1/workspaces/${ada.workspaceId}/approvals/${approvalId}/resolve`;
  const headers = { 'x-workspace-id': ada.workspaceId, 'if-match': `"${ceremonyHash}"` };
  const { status, body } = await ada.tab.send(path, { method: 'POST', headers, body: { decision: 'approve' } });
  expect([status, body]).toEqual([200, expect.objectContaining({ state: 'approved' })]);
}

describe('a person at a terminal', () => {
  it(
    'adds a server, scans it, has it approved at a browser, and sees what it changes afterwards',
    async () => {
      const added = await run('mcp', 'add', 'notes', '--url', notes.url);
      expect(added).toMatchObject({ status: 0, told: expect.stringContaining('countersign mcp request notes') });
      expect(await stateOf()).toBe('quarantined');
      expect((await run('mcp', 'scan', 'notes')).status).toBe(0);
      const key = (await ada.client.createApiKey({ body: { name: 'writer', scopes: ['agent'] } as never })).body.key;
      const agent = createClient(
        { evaluate },
        { baseUrl: system.gatewayUrl, headers: () => ({ authorization: `Bearer ${key}` }) },
      );
      const reason = async () => {
        const body = { action: 'tool.call', tool: 'notes.read_note', args: { id: 'a' }, session_id: 's' } as const;
        return (await agent.evaluate({ body } as never)).body.reason_code; // plain names
      };
      expect(await reason()).toBe('SERVER_QUARANTINED');

      const requested = await run('mcp', 'request', 'notes', '--reason', 'the team writes notes', '-o', 'json');
      expect(requested.told).toContain('/console/inbox/apr_');
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
      const { status, out, told } = await run('mcp', 'diff', 'notes');
      expect([status, out]).toEqual([1, expect.stringContaining('Sends every note away')]);
      expect(told).toContain('are not as approved');
    },
    timeoutMs,
  );

  it.each([
    [['mcp', 'add'], /NAME with --url/],
    [['mcp', 'add', 'x', '--url', 'https://a.example', '--header', 'secret'], /instead of a value alone/],
    [['mcp', 'add', '--file', '/nowhere.json'], /cannot be read as JSON/],
  ])('is told what is wrong with %j before anything is sent', async (argv, problem) => {
    const { status, told } = await run(...argv);
    expect([status, told]).toEqual([2, expect.stringMatching(problem)]);
  });
});
