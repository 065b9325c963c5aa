import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { keyPrincipal, type PrincipalId } from '@countersign/contracts';
import { createKernelClient } from '@countersign/contracts/routes';
import { until } from '@countersign/testkit/until';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import OpenAI from 'openai';
import { addressBook, kernelClient, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { personAt } from './_signed-in.ts';

const address = addressBook();

let system: SharedSystem;
let ada: SignedIn;
let key: string;
let keyId: string;
let file: string;

beforeAll(async () => {
  system = await sharedSystem();
  file = join(system.filesDir, 'notes.md');
  writeFileSync(file, 'Water the plants.\n');
  ada = await signIn(system, address('ada'));
  ({ key, id: keyId } = (await ada.client.createApiKey({ body: { name: 'agent' } as never })).body);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const openai = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${system.gatewayUrl}/v1`, maxRetries: 0 });
const question = { model: 'scripted', messages: [{ role: 'user' as const, content: 'hi' }] };
const endpoint = () => new URL(`${system.gatewayUrl}/mcp`);
const textOf = (result: object) => {
  const [first] = 'content' in result && Array.isArray(result.content) ? (result.content as { text?: string }[]) : [];
  return first?.text ?? '';
};

const evaluate = async (more: object = {}, headers = bearer(key), at = system.gatewayUrl) => {
  const call = { action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id: 's1', ...more };
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(call),
  };
  return fetch(new URL('/api/v1/evaluate', at), sent);
};

/** The verdict on a call that the kernel executes if it is allowed. */
async function executed(call: object): Promise<string> {
  const response = await fetch(new URL('/mcp/v1/execute', system.gatewayUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(key) },
    body: JSON.stringify({ ...call, session_id: 's1' }),
  });
  return ((await response.json()) as { decision: { verdict: string } }).decision.verdict;
}

describe('the gateway, for an agent with only an address and a workspace key', () => {
  it('answers the OpenAI SDK, with a complete answer and with a stream', async () => {
    const models = await openai().models.list();
    expect(models.data.length).toBeGreaterThan(0);
    const whole = await openai().chat.completions.create(question);
    const stream = await openai().chat.completions.create({ ...question, stream: true });
    let streamed = '';
    for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? '';
    expect([typeof streamed, streamed]).toEqual(['string', whole.choices[0]?.message.content]);
    await expect(openai(`${key.slice(0, -1)}!`).chat.completions.create(question)).rejects.toMatchObject({
      status: 401,
      code: 'CREDENTIALS_INVALID',
    });
  });

  it('answers MCP clients of both protocol revisions and of both generations of the SDK', async () => {
    const requestInit = { headers: bearer(key) };
    for (const [mode, version] of [
      [{ pin: '2026-07-28' }, '2026-07-28'],
      ['legacy', '2025-11-25'],
    ] as const) {
      const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit }));
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('files__read_text_file');
      const read = await client.callTool({ name: 'files.read_text_file', arguments: { path: file } });
      expect(textOf(read)).toBe('Water the plants.\n');
      await client.close();
    }
    const legacy = new LegacyClient({ name: 'agent', version: '1' });
    await legacy.connect(new LegacyTransport(endpoint(), { requestInit }));
    expect((await legacy.listTools()).tools.length).toBeGreaterThan(5);
    const denied = await legacy.callTool({ name: 'files.read_text_file', arguments: { path: '../secret' } });
    expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('POLICY_DENIED')]);
    await legacy.close();
  });

  it("seals receipts with the key as principal, and forwards the kernel's answers unchanged", async () => {
    const response = await evaluate({ effect_level: 'E4' });
    const text = await response.text();
    const decision = JSON.parse(text) as { verdict: string; receipt_id: string; receipt: { payload: object } };
    expect(decision).toMatchObject({
      verdict: 'DENY',
      receipt: { payload: { tenant_id: ada.workspaceId, principal_id: keyPrincipal(keyId as never) } },
    });
    expect(response.headers.get('x-gov-receipt-id')).toBe(decision.receipt_id);
    const read = { headers: { ...bearer(ada.token), 'x-workspace-id': ada.workspaceId } };
    const own = await fetch(new URL(`/api/v1/receipts/${decision.receipt_id}`, system.gatewayUrl), read);
    expect(await own.json()).toMatchObject({ payload: decision.receipt.payload });
    const tail = await fetch(new URL('/api/v1/receipts/tail', system.gatewayUrl), read);
    const reader = tail.body?.getReader();
    const { receipt_id: later } = (await (await evaluate()).json()) as { receipt_id: string };
    let seen = '';
    while (!seen.includes(later)) seen += Buffer.from((await reader?.read())?.value ?? []).toString();
    await reader?.cancel();
    const { body } = await kernelClient(system, ada.workspaceId).getReceipt({
      params: { receipt_id: decision.receipt_id },
    });
    expect(body).toMatchObject({ payload: decision.receipt.payload });
  });

  it('applies the blocked tools of the workspace and the rights of its members', async () => {
    const read = { tool: 'files.read_text_file', args: { path: file } };
    const list = { tool: 'files.list_directory', args: { path: system.filesDir } };
    expect([await executed(read), await executed(list)]).toEqual(['ALLOW', 'ALLOW']);
    const block = (blockedTools: string[]) =>
      ada.client.putWorkspaceSettings({
        params: { id: ada.workspaceId },
        body: { policyConfig: { maxIterationBudget: 5, blockedTools, deniedCall: 'end' } },
      });
    await block([read.tool]);
    expect([await executed(read), await executed(list)]).toEqual(['DENY', 'ALLOW']);
    await block([]);
    const second = (await ada.client.createApiKey({ body: { name: 'short-lived' } as never })).body;
    expect((await evaluate({}, bearer(second.key))).status).toBe(200);
    await ada.client.revokeApiKey({ params: { id: second.id } });
    expect((await evaluate({}, bearer(second.key))).status).toBe(401);
  });
});

describe('an agent with its own credential at the kernel', () => {
  it('uses the same gateway under its own identity, and gets unchanged answers', async () => {
    const operator = createKernelClient({ baseUrl: system.kernelUrl, apiKey: system.adminApiKey }).as({
      tenant: 'acme',
    });
    const terms = { kind: 'agent', principal_id: 'researcher' as PrincipalId, expires_in_days: 1 } as const;
    const { key: agentKey } = (await operator.createAccessKey({ body: { ...terms, doors: ['evaluate', 'mcp'] } })).body;
    const statement = { ...bearer(agentKey), 'x-gov-tenant-id': ada.workspaceId, 'x-gov-principal-id': 'admin' };
    expect(await (await evaluate({}, statement)).json()).toMatchObject({
      receipt: { payload: { tenant_id: 'acme', principal_id: 'researcher' } },
    });
    const tools = (at: string) => fetch(new URL('/mcp/v1/capabilities', at), { headers: bearer(agentKey) });
    const [direct, forwarded] = [await tools(system.kernelUrl), await tools(system.gatewayUrl)];
    expect([forwarded.status, await forwarded.text()]).toEqual([direct.status, await direct.text()]);
    // The kernel rejects the key, since it was not made for this route.
    await expect(openai(agentKey).chat.completions.create(question)).rejects.toMatchObject({ status: 403 });
    expect((await evaluate({}, bearer(system.adminApiKey))).status).toBe(401);
    expect((await evaluate({}, bearer(system.serviceApiKey))).status).toBe(401);
  });

  it('is restricted by the blocked tools of its workspace, even before the first run there', async () => {
    const { tab, client, workspaceId } = await personAt(system.gatewayUrl, address('grace'));
    const body = { kind: 'agent', principal_id: 'researcher', expires_in_days: 1, doors: ['evaluate'] };
    const made = await tab.send('/api/v1/access-keys', {
      method: 'POST',
      headers: { 'x-workspace-id': workspaceId },
      body,
    });
    const { key: agentKey } = made.body as { key: string };
    const reason = async () =>
      ((await (await evaluate({}, bearer(agentKey))).json()) as { reason_code: string }).reason_code;
    expect(await reason()).toBe('ALLOWED');
    const policyConfig = { maxIterationBudget: 5, blockedTools: ['crm.read'], deniedCall: 'end' as const };
    await client.putWorkspaceSettings({ params: { id: workspaceId }, body: { policyConfig } });
    await until(async () => (await reason()) === 'TOOL_BLOCKED');
  });
});
