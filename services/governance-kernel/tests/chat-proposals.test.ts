import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { followDirectives } from '@countersign/testkit/scripted-model';
import type { ChatCompletionMessage } from 'openai/resources/chat/completions';
import { ledgerOf, newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { approve, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());
beforeEach(() => upstreams.model.follow(followDirectives));

const session = 'proposal-session' as SessionId;
const inSession = { 'X-Gov-Session-ID': session };
type Decided = { verdict: string; reason_code: string; approval_id?: string };

/** Verdict and reason code of the one call that the model proposes. */
const propose = async (name: string, args: object) => statementOf(await proposal(name, args));

async function proposal(name: string, args: object, headers: object = inSession): Promise<Decided> {
  const completion = await upstreams.openai({ headers: { ...headers } }).chat.completions.create({
    model: 'scripted',
    messages: [{ role: 'user', content: `call:${name} ${JSON.stringify(args)}` }],
  });
  const message = completion.choices[0]?.message as ChatCompletionMessage & { countersign?: { decisions: Decided[] } }; // our extension
  const [decided] = message.countersign?.decisions ?? [];
  if (decided === undefined) throw new Error('nothing was proposed');
  return decided;
}

async function execute(tool: string, args: object): Promise<string> {
  const body = { tool, args, session_id: session } as never; // plain strings instead of branded ones
  const { body: reply } = await upstreams.test.as('acme').executeMcp({ body });
  return statementOf(reply.decision);
}

/** Makes a call over MCP without a session. Returns its verdict and reason code. */
async function callOverMcp(name: string, args: object): Promise<string> {
  const key = (member: string) => `io.modelcontextprotocol/${member}`;
  const _meta = {
    ...{ [key('protocolVersion')]: '2026-07-28', [key('clientInfo')]: { name: 'test', version: '1' } },
    [key('clientCapabilities')]: {},
  };
  const response = await fetch(`${upstreams.test.kernel.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': 'tools/call', 'mcp-name': name },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
  });
  expect(response.status).toBe(200);
  const sealed = await ledgerOf(upstreams.test, 'default-admin');
  const decided = sealed.filter(({ payload }) => payload.kind === 'decision' && payload.tool === name).at(-1);
  return decided === undefined ? 'nothing' : statementOf(decided.payload);
}

const statementOf = ({ verdict, reason_code }: Decided) => `${verdict} ${reason_code}`;

describe('a proposed call of a declared server, which only the kernel can execute', () => {
  it('is judged by the budget and uses nothing of it; its execution does', async () => {
    await upstreams.test.as('acme').putBudget({
      params: { budget_id: 'reads' },
      body: {
        subject: 'tool:notes.read_note',
        window: 'total',
        currency: 'EUR',
        tool_call_limit: 1,
        spend_limit_minor: null,
        egress_limit_bytes: null,
        write_limit: null,
        approval_required_above_minor: null,
      },
    });
    const call = { id: 'a' };
    expect(await propose('notes__read_note', call)).toBe('ALLOW ALLOWED');
    expect(await propose('notes__read_note', call)).toBe('ALLOW ALLOWED');
    expect(await execute('notes.read_note', call)).toBe('ALLOW ALLOWED');
    expect(await propose('notes__read_note', call)).toBe('DENY BUDGET_EXCEEDED');
    expect(await execute('notes.read_note', call)).toBe('DENY BUDGET_EXCEEDED');
  });

  it('does not consume its approval; its execution does', async () => {
    const call = { amount: 7 };
    const answer = await proposal('notes__pay', call);
    expect(answer).toMatchObject({ verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' });
    await approve(upstreams.test, answer.approval_id ?? '');
    expect(await propose('notes__pay', call)).toBe('ALLOW ALLOWED');
    expect(await propose('notes__pay', call)).toBe('ALLOW ALLOWED');
    expect(await execute('notes.pay', call)).toBe('ALLOW ALLOWED');
    expect(await propose('notes__pay', call)).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await execute('notes.pay', call)).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  it('is approved once for both routes, when neither names a session', async () => {
    const call = { amount: 9 };
    const answer = await proposal('notes__pay', call, {});
    expect(statementOf(answer)).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await callOverMcp('notes.pay', call)).toBe('ESCALATE APPROVAL_REQUIRED');
    await approve(upstreams.test, answer.approval_id ?? '');
    expect(await callOverMcp('notes.pay', call)).toBe('ALLOW ALLOWED');
    expect(await callOverMcp('notes.pay', call)).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  it('is recorded without a dispatcher, and without the approval that its execution consumes', async () => {
    const call = { amount: 8 };
    const id = (await proposal('notes__pay', call)).approval_id ?? '';
    await approve(upstreams.test, id);
    expect(await propose('notes__pay', call)).toBe('ALLOW ALLOWED');
    expect(await execute('notes.pay', call)).toBe('ALLOW ALLOWED');
    const naming = (await ledgerOf(upstreams.test, session)).filter(({ record }) => record?.approval_id === id);
    expect(naming.map(({ payload, record }) => [payload.kind, payload.verdict, record?.dispatched_by])).toEqual([
      ['decision', 'ESCALATE', 'nobody'],
      ['approval', 'ALLOW', undefined],
      ['decision', 'ALLOW', 'kernel'],
    ]);
    const allowed = (await ledgerOf(upstreams.test, session)).filter(
      ({ payload }) => payload.tool === 'notes.pay' && payload.kind === 'decision' && payload.verdict === 'ALLOW',
    );
    expect(allowed.slice(-2).map(({ payload, record }) => [payload.approval_id, record?.dispatched_by])).toEqual([
      [undefined, 'nobody'],
      [id, 'kernel'],
    ]);
  });
});

describe('the calls of one answer', () => {
  it('are sealed together in the order of the answer, between the decision and the outcome of the model call', async () => {
    const names = ['lookup', 'find', 'lookup', 'notes__read_note', 'sum', 'notes__pay', 'lookup', 'last'];
    const calls = names.map((name, index) => ({
      id: `c${index}`,
      type: 'function',
      function: { name, arguments: '{}' },
    }));
    const choice = (index: number, tool_calls: object[]) => {
      return { index, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'tool_calls' };
    };
    upstreams.model.follow(() => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ id: 'x', choices: [choice(0, calls.slice(0, 5)), choice(1, calls.slice(5))] }));
    });
    const own = newSession();
    await upstreams.openai({ headers: { 'X-Gov-Session-ID': own } }).chat.completions.create({
      model: 'scripted',
      n: 2,
      messages: [{ role: 'user', content: 'go' }],
    });
    const { rows } = await upstreams.test.pool.query<{ payload: string; sealed_by: string }>(
      'SELECT payload, xmin::text AS sealed_by FROM ledger WHERE session_id = $1 ORDER BY lamport_clock',
      [own],
    );
    const sealed = rows.map(({ payload }) => JSON.parse(payload) as ReceiptPayload); // the kernel wrote it
    const tools = names.map((name) => name.replace('__', '.'));
    expect(sealed.map(({ kind, tool }) => tool ?? kind)).toEqual(['decision', ...tools, 'outcome']);
    // The ledger commits without waiting: the first call may be committed alone, and the others together after it.
    const batches = new Set(rows.slice(1, -1).map(({ sealed_by }) => sealed_by));
    expect(batches.size).toBeLessThanOrEqual(2);
  });
});
