import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import { verifies } from '@countersign/testkit/verifies';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import { untilAnswered } from '@countersign/testkit/until';
import { addressBook, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

let system: SharedSystem;
/** The owner of the key, and her partner. */
let ada: SignedIn;
let bob: SignedIn;
let key: string;
let keyId: string;

beforeAll(async () => {
  system = await sharedSystem();
  ada = await signIn(system, address('ada'));
  bob = await partnerOf(ada, address('bob'));
  ({ key, id: keyId } = (await ada.client.createApiKey({ body: { name: 'crawler' } as never })).body);
});

async function partnerOf({ client, workspaceId: id }: SignedIn, email: string): Promise<SignedIn> {
  const body = { email, role: 'partner' } as never; // branded by the schema
  const { inviteToken: token } = (await client.createInvite({ params: { id }, body })).body;
  const invited = await signIn(system, email);
  await invited.client.acceptInvite({ params: { token }, body: { email } });
  return { ...invited, workspaceId: id };
}

const inHers = () => ({ 'x-workspace-id': ada.workspaceId });
const waiting = async (id: string): Promise<WorkspaceApproval> =>
  untilAnswered(async () => {
    const { body } = await bob.client.listWorkspaceApprovals({ query: {}, headers: inHers() });
    return body.data.find((approval) => approval.id === id);
  });
const decide = (
  { client }: SignedIn,
  id: string,
  body: { status: 'approved' | 'rejected'; reason?: string },
  headers = inHers(),
) => client.resolveWorkspaceApproval({ params: { id }, body, headers });

const textOf = (result: object) =>
  (('content' in result && Array.isArray(result.content) ? result.content : []) as { text?: string }[])[0]?.text ?? '';
const idIn = (text: string) => /PUT \/api\/audit\/approvals\/(apr_\w{26})/.exec(text)?.[1] ?? '';

describe('an agent on another host, with a workspace key', () => {
  verifies(
    'gw.approvals',
    'is approved over MCP by a colleague of the key’s owner, and then makes the call once',
    async () => {
      const requestInit = { headers: { authorization: `Bearer ${key}`, 'x-gov-session-id': 'crawl-1' } };
      const agent = new Client({ name: 'agent', version: '1' });
      await agent.connect(new StreamableHTTPClientTransport(new URL(`${system.gatewayUrl}/mcp`), { requestInit }));
      const path = join(system.filesDir, 'letter.md');
      const call = { name: 'files.write_file', arguments: { path, content: 'Dear customer' } };
      const refused = textOf(await agent.callTool(call));
      expect(refused).toContain('ESCALATE APPROVAL_REQUIRED');
      const id = idIn(refused);
      expect(await waiting(id)).toMatchObject({
        ...{ status: 'pending', runId: null, sessionId: 'crawl-1', apiKey: { id: keyId, name: 'crawler' } },
        ...{ tool: 'files.write_file', args: call.arguments, effectLevel: 'E3', requestedBy: `key:${keyId}` },
      });
      const page = await (await fetch(new URL(`/approvals/${id}`, system.kernelUrl))).text();
      expect(page).toContain(`PUT /api/audit/approvals/${id}`);
      await expect(decide(ada, id, { status: 'approved' })).rejects.toMatchObject({ code: 'MAY_NOT_DECIDE' });
      const eve = await signIn(system, address('eve'));
      const own = { 'x-workspace-id': eve.workspaceId };
      await expect(decide(eve, id, { status: 'approved' }, own)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect((await decide(bob, id, { status: 'approved' })).body).toMatchObject({ status: 'approved' });
      expect((await agent.callTool(call)).isError).not.toBe(true);
      expect(readFileSync(path, 'utf8')).toBe('Dear customer');
      const again = idIn(textOf(await agent.callTool(call)));
      expect(again).not.toBe(id);
      await agent.close();
    },
  );

  it('gets the reason of a rejection, and can also call through the OpenAI SDK', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const evaluate = async () => {
      const call = {
        action: 'tool.call',
        tool: 'files.write_file',
        args: { path: 'x', content: 'y' },
        session_id: 'crawl-2',
      };
      const sent = { method: 'POST', headers, body: JSON.stringify(call) };
      return (await (await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), sent)).json()) as {
        verdict: string;
        reason: string;
        approval?: { approval_id: string };
      };
    };
    const { approval } = await evaluate();
    const id = approval?.approval_id ?? '';
    await waiting(id);
    await decide(bob, id, { status: 'rejected', reason: 'Not this one.' });
    expect(await evaluate()).toMatchObject({ verdict: 'DENY', reason: expect.stringContaining('Not this one.') });
    const openai = new OpenAI({ apiKey: key, baseURL: `${system.gatewayUrl}/v1`, maxRetries: 0 });
    const path = join(system.filesDir, 'note.md');
    const content = `call:files__write_file ${JSON.stringify({ path, content: 'A note' })}`;
    const asking = { model: 'scripted', messages: [{ role: 'user' as const, content }] };
    const tools = [{ type: 'function' as const, function: { name: 'files__write_file', parameters: {} } }];
    const statement = { headers: { 'x-gov-session-id': 'crawl-3' } };
    const answer = await openai.chat.completions.create({ ...asking, tools }, statement);
    const withheld = answer.choices[0]?.message.content ?? '';
    await waiting(idIn(withheld));
    await decide(bob, idIn(withheld), { status: 'approved' });
    const sent = { tool: 'files.write_file', args: { path, content: 'A note' }, session_id: 'crawl-3' };
    const execution = await fetch(new URL('/mcp/v1/execute', system.gatewayUrl), {
      method: 'POST',
      headers,
      body: JSON.stringify(sent),
    });
    expect([execution.status, readFileSync(path, 'utf8')]).toEqual([200, 'A note']);
  });
});
