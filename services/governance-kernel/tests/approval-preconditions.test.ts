import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { send, Caller, ledgerOf, newSession, answerOf } from './_caller.ts';
import type { TestKernel } from './_kernel.ts';
import { kernelAt } from './_passkeys.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const policy = `
format: countersign/policy.v1
name: preconditions
version: '1'
rules:
  - { id: payments, effect: escalate, match: { tool: [notes.pay] } }
  - { id: vaults, effect: escalate, match: { tool: [vault.open] }, approval: { unchanged: [budgets] } }
  - { id: others, effect: allow, match: { tool: [vault.look] } }
`;

let upstreams: Upstreams;
let test: TestKernel;
let second: StartedKernel;
let agent: Caller, there: Caller, alice: Caller;
beforeAll(async () => {
  upstreams = await startUpstreams();
  ({ test } = upstreams);
  second = await startKernel(kernelConfigFrom(test.env));
  await test.activate('*', policy, 2);
  [agent, alice] = [new Caller(test), new Caller(test, 'acme', 'alice')];
  there = new Caller(kernelAt(second.url) as never);
});
afterAll(async () => {
  await second.stop();
  await upstreams.close();
});

const payment = () => ({ tool: 'notes.pay', args: { amount: 5 }, session_id: newSession() });
const approve = async (reply: Awaited<ReturnType<Caller['decide']>>) => {
  const id = send(reply);
  await alice.move('approve', id);
  return id;
};

/** Changes the tool's definition, and pins the new one as an operator does. */
async function pinAnew(description: string): Promise<void> {
  upstreams.notes.redefine('pay', { description });
  expect(answerOf(await agent.decide(payment()))).toBe('DENY SCHEMA_DRIFT');
  await test.pool.query(`UPDATE mcp_tools SET pinned_hash = current_hash, drifted_at = NULL WHERE tool_name = 'pay'`);
}

describe('an approval of a registered tool', () => {
  verifies('kn.approve.loop', 'covers only the pin at the time of its request, on every kernel', async () => {
    for (const present of [false, true]) {
      const call = payment();
      const question = await agent.decide(call);
      const id = await approve(question);
      const { preconditions } = await alice.approval(id);
      const [asking] = await ledgerOf(test, call.session_id);
      expect(preconditions).toEqual({ tool_definition_hash: asking?.record?.tool_definition_hash, budgets: null });
      await pinAnew(`Pays, and keeps a copy ${present}.`);
      for (const kernel of [there, agent]) {
        const reply = await kernel.decide({ ...call, ...(present ? { approval_grant: id } : {}) });
        expect(answerOf(reply)).toBe(present ? 'DENY APPROVAL_PRECONDITION_FAILED' : 'ESCALATE APPROVAL_REQUIRED');
        expect(reply.approval?.approval_id).not.toBe(id);
      }
      expect(await alice.approval(id)).toMatchObject({ state: 'approved', uses_remaining: 1 });
    }
  });

  it('that was requested beforehand covers the pin as well, and the vote is sealed with the pin', async () => {
    const call = payment();
    const body = { ...call, action: 'tool.call', reason: 'soon' } as never; // plain strings instead of branded ones
    const { approval_id: id } = (await agent.client.createApproval({ body })).body;
    await alice.move('approve', id);
    const { preconditions } = await alice.approval(id);
    expect(preconditions.tool_definition_hash).toMatch(/^sha256:/);
    const vote = (await ledgerOf(test, call.session_id)).at(-1);
    expect(vote?.record?.intent.facts['approved_preconditions']).toEqual(preconditions);
    await pinAnew('Pays twice.');
    expect(answerOf(await there.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_PRECONDITION_FAILED');
    const anew = payment();
    const asking = { ...anew, action: 'tool.call', reason: 'again' } as never; // plain strings instead of branded ones
    const later = (await agent.client.createApproval({ body: asking })).body;
    await alice.move('approve', later.approval_id);
    expect(answerOf(await there.decide({ ...anew, approval_grant: later.approval_id }))).toBe('ALLOW ALLOWED');
  });
});

describe('an approval whose rule requires unchanged budgets', () => {
  const terms: Omit<Budget, 'budget_id' | 'tenant_id' | 'used' | 'reserved' | 'resets_at'> = {
    ...{ subject: 'tenant', window: 'total' as const, tool_call_limit: 100, spend_limit_minor: null, currency: null },
    ...{ egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null },
  } as never; // the schema has the defaults
  let etag: string | null = null;
  const put = async (tool_call_limit: number) => {
    const headers = etag === null ? {} : { 'if-match': etag };
    const input = { params: { budget_id: 'daily' }, body: { ...terms, tool_call_limit }, headers } as never; // plain strings
    etag = (await test.as('acme', 'operator').putBudget(input)).headers.get('etag');
  };

  it('is void as soon as another call uses them, on every kernel, and valid when they are restored', async () => {
    await put(100);
    const call = { tool: 'vault.open', session_id: newSession() };
    const question = await agent.decide(call);
    const id = await approve(question);
    expect((await alice.approval(id)).preconditions.budgets).toMatchObject([
      { budget_id: 'daily', tool_calls_remaining: 100 },
    ]);
    expect(answerOf(await agent.decide({ tool: 'vault.look' }))).toBe('ALLOW ALLOWED');
    const refused = await there.decide({ ...call, approval_grant: id });
    expect([answerOf(refused), refused.reason]).toEqual([
      'DENY APPROVAL_PRECONDITION_FAILED',
      'Budget daily has less left than when the approval was requested.',
    ]);
    await put(101);
    expect(answerOf(await there.decide({ ...call, approval_grant: id }))).toBe('ALLOW ALLOWED');
  });

  it('is void when the currency of a budget changed, even if its amount is the same', async () => {
    const of = new Caller(test, 'globex');
    const money = async (currency: string, etag?: string | null) => {
      const body = { subject: 'tenant', window: 'total', spend_limit_minor: 1000, currency };
      const headers = etag ? { 'if-match': etag } : {};
      const input = { params: { budget_id: 'money' }, body, headers } as never; // plain strings instead of branded ones
      return (await test.as('globex', 'operator').putBudget(input)).headers.get('etag');
    };
    const etag = await money('EUR');
    const call = { tool: 'vault.open', session_id: newSession() };
    const id = send(await of.decide(call));
    await new Caller(test, 'globex', 'alice').move('approve', id);
    await money('JPY', etag);
    expect(answerOf(await of.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_PRECONDITION_FAILED');
  });

  it('cannot be replaced by one that was requested beforehand without this condition', async () => {
    const call = { tool: 'vault.open', session_id: newSession() };
    const body = { ...call, action: 'tool.call', reason: 'soon' } as never; // plain strings instead of branded ones
    const { approval_id: id } = (await agent.client.createApproval({ body })).body;
    await alice.move('approve', id);
    expect(answerOf(await agent.decide({ ...call, approval_grant: id }))).toBe('ESCALATE APPROVAL_REQUIRED');
  });
});
