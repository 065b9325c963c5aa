import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: budgets
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, model.call, agent.spawn, docs.publish] } }
`;
const dispatchDeadlineMs = 60_000;
const hourMs = 3_600_000;
const noLimits = {
  subject: 'tenant',
  window: 'total' as const,
  tool_call_limit: null,
  spend_limit_minor: null,
  currency: null,
  egress_limit_bytes: null,
  write_limit: null,
  approval_required_above_minor: null,
};
type Terms = Partial<Budget>;

const time = movableClock('2026-11-21T10:30:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({
    overrides: { clock: time.clock },
    env: {
      GOV_DISPATCH_DEADLINE: `${dispatchDeadlineMs}ms`,
      GOV_UPSTREAM_TIMEOUT: '10s',
      GOV_MCP_TIMEOUT: '10s',
      GOV_POLICY_MAX_AGE: '400d',
    },
  });
  await test.activate('*', policy);
});
afterAll(() => test.close());

/** Each test has its own tenant, so that budgets do not affect each other. */
let tenants = 0;
const newTenant = () => `tenant-${(tenants += 1)}`;
const put = async (tenant: string, id: string, terms: Terms, headers: Record<string, string> = {}) =>
  await test.as(tenant).putBudget({
    params: { budget_id: id },
    body: { ...noLimits, ...terms },
    headers,
  });
async function budgetOf(tenant: string): Promise<Budget> {
  const { body } = await test.as(tenant).listBudgets();
  const [budget] = body.data;
  if (budget === undefined) throw new Error('no budget');
  return budget;
}
const inParallel = async <Value>(count: number, work: (index: number) => Promise<Value>) =>
  await Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe('ceilings', () => {
  const ceilings: [string, Terms, object, string][] = [
    ['calls', { tool_call_limit: 10 }, {}, 'tool_calls'],
    ['spend', { spend_limit_minor: 1000, currency: 'EUR' }, { demand: { spend_minor: 100 } }, 'spend_minor'],
    ['egress', { egress_limit_bytes: 5120 }, { demand: { egress_bytes: 512 } }, 'egress_bytes'],
    ['writes', { write_limit: 10 }, { effect_level: 'E2' }, 'writes'],
  ];
  for (const [name, terms, call, amount] of ceilings) {
    verifies('kn.budget', `let exactly 10 of 50 parallel calls pass when limited by ${name}`, async () => {
      const tenant = newTenant();
      await put(tenant, name, terms);
      const agent = new Caller(test, tenant);
      const replies = await inParallel(50, () => agent.decide({ tool: 'files.touch', ...call }));
      const verdicts = replies.map(answerOf);
      expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(10);
      expect(verdicts.filter((verdict) => verdict === 'DENY BUDGET_EXCEEDED')).toHaveLength(40);
      const limits = { calls: 10, spend: 1000, egress: 5120, writes: 10 } as const;
      const { used, reserved } = await budgetOf(tenant);
      expect(used[amount as keyof typeof used]).toBe(limits[name as keyof typeof limits]);
      expect(Object.values(reserved)).toEqual([0, 0, 0, 0]);
    });
  }

  verifies('kn.budget', 'every action counts as a call, under any name, except a model call', async () => {
    const tenant = newTenant();
    await put(tenant, 'calls', { tool_call_limit: 3, write_limit: 2 });
    const agent = new Caller(test, tenant);
    const decided = [];
    for (const action of ['model.call', 'model.call', 'docs.publish', 'agent.spawn', 'docs.publish'])
      decided.push(answerOf(await agent.decide({ action })));
    expect(decided).toEqual([...Array<string>(4).fill('ALLOW ALLOWED'), 'DENY BUDGET_EXCEEDED']);
    expect((await budgetOf(tenant)).used).toMatchObject({ tool_calls: 2, writes: 2 });
    const disguised = { action: 'model.call', tool: 'docs.publish' };
    expect(answerOf(await agent.decide(disguised))).toBe('DENY MALFORMED_ARGUMENTS');
  });

  verifies('kn.budget', 'every applicable budget must have room, and others do not matter', async () => {
    const tenant = newTenant();
    // The narrow budgets sort between the wide ones, so reading only the first or the last budget would fail.
    await put(tenant, 'a-wide', { tool_call_limit: 100 });
    await put(tenant, 'narrow', { subject: 'principal:agent', tool_call_limit: 1 });
    await put(tenant, 'shell', { subject: 'tool:shell', tool_call_limit: 0 });
    await put(tenant, 'stopped', { subject: 'agent:third', tool_call_limit: 0 });
    await put(tenant, 'z-wide', { tool_call_limit: 100 });
    const [agent, second] = [new Caller(test, tenant), new Caller(test, tenant, 'other')];
    expect(answerOf(await agent.decide({ tool: 'a' }))).toBe('ALLOW ALLOWED');
    expect(answerOf(await agent.decide({ tool: 'a' }))).toBe('DENY BUDGET_EXCEEDED');
    expect(answerOf(await second.decide({ tool: 'a' }))).toBe('ALLOW ALLOWED');
    expect(answerOf(await second.decide({ tool: 'shell' }))).toBe('DENY BUDGET_EXCEEDED');
    expect(answerOf(await new Caller(test, tenant, 'third').decide({ tool: 'a' }))).toBe('DENY BUDGET_EXCEEDED');
    expect(answerOf(await new Caller(test, newTenant()).decide({ tool: 'shell' }))).toBe('ALLOW ALLOWED');
  });

  verifies(
    'kn.budget',
    'spend above its threshold requires approval, and an approval does not override the ceiling',
    async () => {
      const tenant = newTenant();
      await put(tenant, 'spend', { spend_limit_minor: 500, currency: 'EUR', approval_required_above_minor: 100 });
      const [agent, alice] = [new Caller(test, tenant), new Caller(test, tenant, 'alice')];
      const call = { tool: 'buy', session_id: newSession(), demand: { spend_minor: 300 } as never };
      const question = await agent.decide(call);
      expect(answerOf(question)).toBe('ESCALATE BUDGET_APPROVAL_REQUIRED');
      await alice.move('approve', send(question));
      expect(answerOf(await agent.decide({ ...call, demand: { spend_minor: 501 } }))).toBe('DENY BUDGET_EXCEEDED');
      expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
      expect((await budgetOf(tenant)).used.spend_minor).toBe(300);
    },
  );

  verifies('kn.budget', 'the bytes of arguments count as egress, even if the caller declares less', async () => {
    const tenant = newTenant();
    await put(tenant, 'bytes', { egress_limit_bytes: 100 });
    const agent = new Caller(test, tenant);
    const args = { text: 'é'.repeat(30) };
    const bytes = Buffer.byteLength(JSON.stringify(args));
    expect(answerOf(await agent.decide({ tool: 'a', args, demand: { egress_bytes: 1 } }))).toBe('ALLOW ALLOWED');
    expect((await budgetOf(tenant)).used.egress_bytes).toBe(bytes);
    expect(answerOf(await agent.decide({ tool: 'a', args }))).toBe('DENY BUDGET_EXCEEDED');
    expect(answerOf(await agent.decide({ tool: 'a', demand: { egress_bytes: 101 } }))).toBe('DENY BUDGET_EXCEEDED');
  });

  verifies('kn.budget', 'a denied call and a shadow call use nothing', async () => {
    const tenant = newTenant();
    await put(tenant, 'calls', { tool_call_limit: 5 });
    const agent = new Caller(test, tenant);
    await agent.decide({ tool: 'a', mode: 'shadow' });
    await agent.decide({ action: 'data.egress' });
    expect((await budgetOf(tenant)).used.tool_calls).toBe(0);
  });
});

describe('windows', () => {
  verifies(
    'kn.budget',
    'the usage of a budget starts from zero in each new window, but a total budget never resets',
    async () => {
      const [hourly, total] = [newTenant(), newTenant()];
      await put(hourly, 'hour', { tool_call_limit: 1, window: '1h' });
      await put(total, 'total', { tool_call_limit: 1 });
      expect((await budgetOf(hourly)).resets_at).toBe('2026-11-21T11:00:00.000Z');
      const call = async (tenant: string) => answerOf(await new Caller(test, tenant).decide({ tool: 'a' }));
      expect([await call(hourly), await call(hourly)]).toEqual(['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']);
      expect([await call(total), await call(total)]).toEqual(['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']);
      time.advance(hourMs);
      expect(await budgetOf(hourly)).toMatchObject({ used: { tool_calls: 0 }, resets_at: '2026-11-21T12:00:00.000Z' });
      expect([await call(hourly), await call(hourly)]).toEqual(['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']);
      expect(await call(total)).toBe('DENY BUDGET_EXCEEDED');
    },
  );
});

describe('reservations', () => {
  const kernelCall = (tenant: string, session: SessionId) =>
    spawnedAgent({ tenant, session, demand: { spend_micros: 70_000_000n } });

  verifies(
    'kn.budget',
    'the reservation of a crashed call is released, and its outcome is sealed as uncertain',
    async () => {
      const [tenant, session] = [newTenant(), newSession()];
      await put(tenant, 'spend', { tool_call_limit: 1, spend_limit_minor: 100, currency: 'EUR', write_limit: 1 });
      const { boundary } = test.kernel.context;
      const { reconciler } = test.kernel.workers;
      // A crash leaves a decision that is never dispatched.
      const decision = await decideAndDie(boundary, kernelCall(tenant, session));
      expect(decision.reply.verdict).toBe('ALLOW');
      expect((await budgetOf(tenant)).reserved).toMatchObject({ tool_calls: 1, spend_minor: 70, writes: 1 });
      expect((await decideAndDie(boundary, kernelCall(tenant, session))).reply.reason_code).toBe('BUDGET_EXCEEDED');
      expect(await reconciler.run()).toBe(0);
      time.advance(dispatchDeadlineMs + 1);
      expect(await reconciler.run()).toBe(1);
      const budget = await budgetOf(tenant);
      expect([...Object.values(budget.reserved), ...Object.values(budget.used)]).toEqual(Array(8).fill(0));
      const outcome = (await ledgerOf(test, session)).at(-1)?.payload;
      expect(outcome).toMatchObject({
        kind: 'outcome',
        outcome: 'uncertain',
        decision_receipt_id: decision.reply.receipt_id,
      });
      expect(await refusal(boundary.settle(decision, { outcome: 'completed' }))).toBe('ILLEGAL_TRANSITION');
      expect(await reconciler.run()).toBe(0);
    },
  );

  verifies('kn.budget', 'a call that is still in progress in a live process is late, not crashed', async () => {
    const [tenant, session] = [newTenant(), newSession()];
    await put(tenant, 'spend', { tool_call_limit: 5, spend_limit_minor: 500, currency: 'EUR' });
    const { dispatch, log } = test.kernel.context;
    const { reconciler } = test.kernel.workers;
    const upstream = new EventEmitter();
    const effects = dispatch.to(async () => {
      upstream.emit('called');
      await once(upstream, 'answer');
    });
    const called = once(upstream, 'called');
    const performing = effects.perform({
      call: kernelCall(tenant, session),
      request: null,
      receive: () => ({ outcome: 'completed', spentMicros: 42_000_000n, result: null }),
      failed: { outcome: 'uncertain' },
      log,
    });
    await called;
    time.advance(dispatchDeadlineMs + 1);
    expect(await reconciler.run()).toBe(0);
    upstream.emit('answer');
    await performing;
    const { used, reserved } = await budgetOf(tenant);
    expect([used.spend_minor, reserved.spend_minor]).toEqual([42, 0]);
    expect(dispatch.live()).toEqual([]);
  });

  verifies('kn.budget', 'a sent call without an answer counts in full', async () => {
    const [tenant, session] = [newTenant(), newSession()];
    await put(tenant, 'spend', { tool_call_limit: 2, spend_limit_minor: 100, currency: 'EUR', write_limit: 2 });
    const { boundary } = test.kernel.context;
    const decision = await decideAndDie(boundary, kernelCall(tenant, session));
    await boundary.settle(decision, { outcome: 'uncertain' });
    const { used, reserved } = await budgetOf(tenant);
    expect(used).toEqual({ tool_calls: 1, spend_minor: 70, egress_bytes: '{}'.length, writes: 1 });
    expect(Object.values(reserved)).toEqual([0, 0, 0, 0]);
    expect((await decideAndDie(boundary, kernelCall(tenant, session))).reply.reason_code).toBe('BUDGET_EXCEEDED');
  });

  verifies(
    'kn.budget',
    'fifty parallel calls reserve up to the ceiling while they run, and release what they did not spend',
    async () => {
      const [tenant, session] = [newTenant(), newSession()];
      await put(tenant, 'spend', { spend_limit_minor: 700, currency: 'EUR' });
      const { boundary } = test.kernel.context;
      const decisions = await inParallel(50, () => decideAndDie(boundary, kernelCall(tenant, session)));
      const allowed = decisions.filter(({ reply }) => reply.verdict === 'ALLOW');
      expect(allowed).toHaveLength(10);
      expect((await budgetOf(tenant)).reserved.spend_minor).toBe(700);
      await Promise.all(
        allowed.map((decision) => boundary.settle(decision, { outcome: 'completed', spentMicros: 30_000_000n })),
      );
      expect(await budgetOf(tenant)).toMatchObject({ used: { spend_minor: 300 }, reserved: { spend_minor: 0 } });
      const [again] = await Promise.allSettled(
        allowed.slice(0, 1).map((decision) => boundary.settle(decision, { outcome: 'completed' })),
      );
      expect(again?.status).toBe('rejected');
      expect((await budgetOf(tenant)).used.spend_minor).toBe(300);
    },
  );
});

describe('PUT budget', () => {
  it('creates, then replaces only the version that was read, and usage continues to count', async () => {
    const tenant = newTenant();
    const created = await put(tenant, 'b', { tool_call_limit: 5 });
    expect([created.status, created.headers.get('etag'), created.body.version]).toEqual([201, '"1"', 1]);
    await new Caller(test, tenant).decide({ tool: 'a' });
    expect(await refusal(put(tenant, 'b', { tool_call_limit: 9 }))).toBe('PRECONDITION_REQUIRED');
    expect(await refusal(put(tenant, 'b', { tool_call_limit: 9 }, { 'if-match': '"7"' }))).toBe('PRECONDITION_FAILED');
    expect(await refusal(put(tenant, 'new', {}, { 'if-match': '"1"' }))).toBe('PRECONDITION_FAILED');
    const { status, headers, body } = await put(tenant, 'b', { tool_call_limit: 1 }, { 'if-match': '"1"' });
    expect([status, headers.get('etag'), body.used.tool_calls, body.tool_call_limit]).toEqual([200, '"2"', 1, 1]);
    expect(answerOf(await new Caller(test, tenant).decide({ tool: 'a' }))).toBe('DENY BUDGET_EXCEEDED');
  });

  it('sets the end of the new window when the window changes', async () => {
    const tenant = newTenant();
    expect((await put(tenant, 'b', {})).body.resets_at).toBeNull();
    const { body } = await put(tenant, 'b', { window: 'month' }, { 'if-match': '"1"' });
    expect(body.resets_at).toBe('2026-12-01T00:00:00.000Z');
  });

  it('requires a currency for a spend limit, and refuses another one while money is counted in it', async () => {
    const tenant = newTenant();
    expect(await refusal(put(tenant, 'b', { spend_limit_minor: 5 }))).toBe('INVALID_REQUEST');
    await put(tenant, 'b', { spend_limit_minor: 50, currency: 'EUR' });
    await new Caller(test, tenant).decide({ tool: 'a', demand: { spend_minor: 1 } });
    const inDollars = put(tenant, 'b', { spend_limit_minor: 50, currency: 'USD' }, { 'if-match': '"1"' });
    expect(await refusal(inDollars)).toBe('ILLEGAL_TRANSITION');
  });

  it.each(['tool:Files.Read', 'tool:files__READ', 'tool:\uff46iles.read', 'tool:fi\u00adles.read'])(
    'with the subject %s limits every spelling of the tool, and returns its canonical name',
    async (subject) => {
      const tenant = newTenant();
      expect((await put(tenant, 'b', { subject, tool_call_limit: 1 })).body.subject).toBe('tool:files.read');
      const agent = new Caller(test, tenant);
      const messages = [];
      for (const tool of ['files__read', 'files.read']) messages.push(answerOf(await agent.decide({ tool })));
      expect(messages).toEqual(['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']);
    },
  );

  it.each(['tool:files.read ', 'tool:a\u0000b', 'tool:\u200b', 'principal: ann', 'agent:a\tb'])(
    'refuses %j, which is the subject of no call',
    async (subject) => {
      expect(await refusal(put(newTenant(), 'b', { subject, tool_call_limit: 0 }))).toBe('INVALID_REQUEST');
    },
  );

  it('refuses a 17th budget of one subject, but a service can still set a ceiling', async () => {
    const tenant = newTenant();
    const ids = Array.from({ length: 17 }, (_, index) => `b${index}`);
    const made = await Promise.allSettled(ids.map((id) => put(tenant, id, { tool_call_limit: 100 })));
    const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason as { code: string }] : []));
    expect(refused.map(({ code }) => code)).toEqual(['ILLEGAL_TRANSITION']);
    await put(tenant, 'other', { subject: 'principal:ann', tool_call_limit: 100 });
    const moved = put(tenant, 'other', { tool_call_limit: 100 }, { 'if-match': '"1"' });
    expect(await refusal(moved)).toBe('ILLEGAL_TRANSITION');
    const params = { tenant, budget_id: 'ceiling.all' };
    await test.system.putCeiling({ params, body: { ...noLimits, version: 1, tool_call_limit: 1 } }); // branded by the schema
    const agent = new Caller(test, tenant);
    await agent.decide({ tool: 'a' });
    expect(answerOf(await agent.decide({ tool: 'a' }))).toBe('DENY BUDGET_EXCEEDED');
  });

  it('accepts one of ten parallel creations', async () => {
    const tenant = newTenant();
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => put(tenant, 'b', {})));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('lists the budgets of one tenant by name, in pages', async () => {
    const tenant = newTenant();
    for (const id of ['c', 'a', 'b']) await put(tenant, id, {});
    const first = (await test.as(tenant).listBudgets({ query: { limit: 2 } })).body;
    const rest = (await test.as(tenant).listBudgets({ query: { limit: 2, cursor: first.next_cursor ?? '' } })).body;
    expect([...first.data, ...rest.data].map(({ budget_id }) => budget_id)).toEqual(['a', 'b', 'c']);
    expect(rest.next_cursor).toBeNull();
  });
});
