import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { workspaceCalled } from './_assertions.ts';
import { Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: ceilings
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, agent.spawn] } }
`;

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
});
afterAll(() => test.close());

let tenants = 0;
const newTenant = () => `ceilings-${(tenants += 1)}`;
const noLimits = {
  subject: 'tenant',
  window: 'month' as const,
  tool_call_limit: null,
  spend_limit_minor: null,
  currency: null,
  egress_limit_bytes: null,
  write_limit: null,
  approval_required_above_minor: null,
};
type Terms = Partial<Omit<typeof noLimits, 'tool_call_limit'>> & { tool_call_limit?: number };

async function setCeiling(tenant: string, version: number, terms: object, id = 'ceiling.tested') {
  const body = { version, ...noLimits, ...(terms as Terms) };
  return (await test.system.putCeiling({ params: { tenant, budget_id: id }, body })).body;
}
const blockTools = async (tenant: string, version: number, tools: string[]) =>
  (await test.system.putToolBlocks({ params: { tenant }, body: { version, tools } })).body;

const receiptsIn = async (tenant: string, session: string) =>
  (await ledgerOf(test, session)).filter(({ payload }) => payload.tenant_id === tenant);

describe('a ceiling', () => {
  verifies('kn.budget', 'limits each call after it was set, and each of its changes is sealed', async () => {
    const tenant = newTenant();
    expect(await setCeiling(tenant, 3, { tool_call_limit: 1 })).toMatchObject({ version: 3, tool_call_limit: 1 });
    const agent = new Caller(test, tenant);
    const read = { tool: 'files.read', effect_level: 'E1' };
    expect([answerOf(await agent.decide(read)), answerOf(await agent.decide(read))]).toEqual([
      'ALLOW ALLOWED',
      'DENY BUDGET_EXCEEDED',
    ]);
    expect(await setCeiling(tenant, 4, { tool_call_limit: 2 })).toMatchObject({ version: 4, used: { tool_calls: 1 } });
    expect(answerOf(await agent.decide(read))).toBe('ALLOW ALLOWED');
    const sealed = await receiptsIn(tenant, 'budgets');
    expect(
      sealed.map(({ payload, record }) => [payload.action, payload.resource, record?.intent.facts['version']]),
    ).toEqual([3, 4].map((version) => ['budget.change', 'budget:ceiling.tested', version]));
  });

  verifies(
    'kn.budget',
    'accepts only rising versions; the same version with equal terms confirms it and seals nothing',
    async () => {
      const tenant = newTenant();
      await setCeiling(tenant, 2, { tool_call_limit: 5 });
      expect(await setCeiling(tenant, 2, { tool_call_limit: 5 })).toMatchObject({ version: 2 });
      expect(await refusal(setCeiling(tenant, 2, { tool_call_limit: 6 }))).toBe('ILLEGAL_TRANSITION');
      expect(await refusal(setCeiling(tenant, 1, { tool_call_limit: 6 }))).toBe('ILLEGAL_TRANSITION');
      const { body } = await test.as(tenant).listBudgets();
      expect(body.data).toMatchObject([{ version: 2, tool_call_limit: 5 }]);
      expect(await receiptsIn(tenant, 'budgets')).toHaveLength(1);
    },
  );

  verifies('kn.budget', 'can be changed only by its own route, which changes no other budget', async () => {
    const tenant = newTenant();
    for (const budget_id of ['ceiling.tested', 'plan.tool_calls'])
      expect(await refusal(test.as(tenant).putBudget({ params: { budget_id }, body: noLimits }))).toBe(
        'INVALID_REQUEST',
      );
    expect(await refusal(setCeiling(tenant, 1, {}, 'models'))).toBe('INVALID_REQUEST');
    const asOperator = test.as(tenant).putCeiling({
      params: { tenant, budget_id: 'ceiling.tested' },
      body: { version: 1, ...noLimits },
    });
    expect(await refusal(asOperator)).toBe('CREDENTIALS_INVALID');
    expect((await test.as(tenant).listBudgets()).body.data).toEqual([]);
  });

  verifies('kn.budget', 'keeps its currency while money is reserved; a different one counts from zero', async () => {
    const tenant = newTenant();
    await setCeiling(tenant, 1, { spend_limit_minor: 100, currency: 'EUR' });
    const { boundary } = test.kernel.context;
    const session = newSession();
    const paying = spawnedAgent({ tenant, session, demand: { spend_micros: 60_000_000n } });
    const decision = await decideAndDie(boundary, paying);
    const inDollars = (version: number) => setCeiling(tenant, version, { spend_limit_minor: 100, currency: 'USD' });
    expect(await refusal(inDollars(2))).toBe('ILLEGAL_TRANSITION');
    await boundary.settle(decision, { outcome: 'completed', spentMicros: 59_000_001n });
    const { body } = await test.as(tenant).listBudgets();
    expect(body.data).toMatchObject([{ currency: 'EUR', used: { spend_minor: 60 }, reserved: { spend_minor: 0 } }]);
    expect(await inDollars(2)).toMatchObject({ currency: 'USD', used: { spend_minor: 0 } });
  });

  verifies(
    'kn.budget',
    'counts spend as receipts state it: the reserved amount in the decision, the actual one in the outcome',
    async () => {
      const [tenant, session] = [newTenant(), newSession()];
      await setCeiling(tenant, 1, { spend_limit_minor: 2, currency: 'EUR' });
      const { boundary } = test.kernel.context;
      const paying = spawnedAgent({ tenant, session, demand: { spend_micros: 1_500_001n } });
      const decision = await decideAndDie(boundary, paying);
      await boundary.settle(decision, { outcome: 'completed', spentMicros: 7n });
      const [decided, ended] = await ledgerOf(test, session);
      expect([
        decided?.record?.demand?.spend_micros,
        decided?.payload.spend_micros,
        ended?.payload.spend_micros,
      ]).toEqual(['1500001', '1500001', '7']);
      const { body } = await test.as(tenant).verifyRecord({ params: { record_id: decided?.record?.record_id ?? '' } });
      expect(body.verified).toBe(true);
    },
  );
});

describe('blocked tools', () => {
  verifies('kn.gates', 'are denied after they were set, in either spelling, and the record states why', async () => {
    const tenant = newTenant();
    const agent = new Caller(test, tenant);
    expect(await blockTools(tenant, 1, ['shell__run', 'files.read', 'files.read'])).toMatchObject({
      tools: ['files.read', 'shell.run'],
    });
    const session_id = newSession();
    for (const tool of ['files.read', 'files__read', 'shell.run'])
      expect(answerOf(await agent.decide({ tool, effect_level: 'E1', session_id }))).toBe('DENY TOOL_BLOCKED');
    expect(answerOf(await agent.decide({ tool: 'files.list', effect_level: 'E1', session_id }))).toBe('ALLOW ALLOWED');
    const sealed = await ledgerOf(test, session_id);
    expect(sealed.map(({ record }) => record?.tool_blocked)).toEqual([true, true, true, undefined]);
    const rules = sealed[0]?.record?.gates.find(({ gate }) => gate === 'rules');
    expect(rules?.detail).toMatch(/workspace blocks/);
    for (const { record } of sealed) {
      const params = { record_id: record?.record_id ?? '' };
      expect((await test.as(tenant).verifyRecord({ params })).body.verified).toBe(true);
    }
    await blockTools(tenant, 2, []);
    expect(answerOf(await agent.decide({ tool: 'files.read', effect_level: 'E1' }))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.tenants', 'belong to one tenant, and each change of the list is sealed', async () => {
    const [tenant, second] = [newTenant(), newTenant()];
    await blockTools(tenant, 1, ['files.read']);
    expect(answerOf(await new Caller(test, second).decide({ tool: 'files.read', effect_level: 'E1' }))).toBe(
      'ALLOW ALLOWED',
    );
    await blockTools(tenant, 1, ['files__read']);
    expect(await refusal(blockTools(tenant, 1, []))).toBe('ILLEGAL_TRANSITION');
    await blockTools(tenant, 5, []);
    expect(await refusal(blockTools(tenant, 4, ['files.read']))).toBe('ILLEGAL_TRANSITION');
    const sealed = await receiptsIn(tenant, 'policy');
    expect(sealed.map(({ record }) => record?.intent.facts)).toEqual([
      { version: 1, tools: ['files.read'] },
      { version: 5, tools: [] },
    ]);
  });
});

describe('a workspace', () => {
  verifies('kn.gates', 'has every call denied until its first list of blocked tools has arrived', async () => {
    const [tenant, neighbour] = ['NEW', '0THER'].map(workspaceCalled) as [string, string]; // the array has two elements
    const agents = [tenant, neighbour].map((of) => new Caller(test, of));
    const session_id = newSession();
    const spawn = { action: 'agent.spawn', effect_level: 'E1', session_id };
    const statementOf = async (call: object) =>
      Promise.all(agents.map(async (agent) => (await agent.decide(call)).reason_code));
    expect(await statementOf({ ...spawn, tool: 'files.read', action: 'tool.call' })).toEqual(bothMissing);
    expect(await statementOf(spawn)).toEqual(bothMissing);
    await setCeiling(tenant, 1, {}, 'ceiling.llm_month');
    expect(await statementOf(spawn)).toEqual(bothMissing);
    await blockTools(tenant, 1, []);
    expect(await statementOf(spawn)).toEqual(['ALLOWED', 'SETTINGS_MISSING']);
    const [first] = await ledgerOf(test, session_id);
    const params = { record_id: first?.record?.record_id ?? '' };
    expect((await test.as(first?.payload.tenant_id ?? '').verifyRecord({ params })).body.verified).toBe(true);
  });

  const bothMissing = ['SETTINGS_MISSING', 'SETTINGS_MISSING'];
});
