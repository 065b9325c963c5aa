import { createKernelClient } from '@countersign/contracts/routes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { adminKey, startTestKernel, systemOf, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: usage
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call] } }
`;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const time = movableClock('2026-11-21T10:30:00.000Z');

let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  const overrides = { clock: time.clock };
  test = await startTestKernel({ overrides, env: { GOV_POLICY_MAX_AGE: '400d' } });
  await test.activate('*', policy);
  second = await startKernel(kernelConfigFrom(test.env), overrides);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

/** How long event IDs are stored, and how far clocks may differ. */
const [keptMs, skewMs] = [35 * dayMs, 300_000];
const ago = (ms: number) => new Date(time.clock().getTime() - ms).toISOString();

let tenants = 0;
const newTenant = () => `using-${(tenants += 1)}`;
const budget_id = 'plan.models';
const call = () => ({ action: 'tool.call', session_id: newSession() });
const read = { tool: 'files.read', effect_level: 'E1' };

async function planned(terms: object): Promise<string> {
  const tenant = newTenant();
  const body = { version: 1, subject: 'tenant', window: '24h', ...terms } as never; // the schema fills in the defaults
  await test.system.putCeiling({ params: { tenant, budget_id }, body });
  return tenant;
}

type Report = Partial<Record<'event_id' | 'occurred_at' | 'currency', string>> & Record<string, unknown>;

function tell(tenant: string, usage: Report, { url = test.kernel.url, id = budget_id } = {}) {
  const body = { event_id: 'e1', occurred_at: time.clock().toISOString(), ...usage } as never; // branded by the schema
  return systemOf(url).recordBudgetUsage({ params: { tenant, budget_id: id }, body });
}
const usedOf = async (tenant: string) => (await test.system.getBudget({ params: { tenant, budget_id } })).body.used;

describe('external usage', () => {
  verifies('kn.budget', 'counts once per event, on whichever kernel it is reported, and is sealed once', async () => {
    const tenant = await planned({ tool_call_limit: 100, spend_limit_minor: 1_000, currency: 'EUR' });
    const usage = { amount_minor: 120, currency: 'EUR', tool_calls: 2, egress_bytes: 30, writes: 1 };
    const urls = Array.from({ length: 10 }, () => [test.kernel.url, second.url]).flat();
    const messages = await Promise.all(urls.map((url) => tell(tenant, usage, { url })));
    expect(messages.map(({ body }) => [body.event_id, body.counted])).toEqual(Array(20).fill(['e1', true]));
    expect(await usedOf(tenant)).toEqual({ tool_calls: 2, spend_minor: 120, egress_bytes: 30, writes: 1 });
    await tell(tenant, { ...usage, event_id: 'e2' });
    expect(await usedOf(tenant)).toEqual({ tool_calls: 4, spend_minor: 240, egress_bytes: 60, writes: 2 });
    const sealed = (await ledgerOf(test, 'budgets')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload, record }) => [payload.action, record?.intent.facts['event_id']])).toEqual([
      ['budget.change', undefined],
      ['budget.usage', 'e1'],
      ['budget.usage', 'e2'],
    ]);
  });

  verifies('kn.budget', 'is counted in full when many events are reported at once', async () => {
    const tenant = await planned({ tool_call_limit: 1_000 });
    const one = (index: number) =>
      tell(tenant, { event_id: `e-${index}`, tool_calls: 1 }, { url: index % 2 ? second.url : test.kernel.url });
    await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)));
    expect((await usedOf(tenant)).tool_calls).toBe(50);
  });

  verifies('kn.budget', 'affects the next decision on every kernel, even if it exceeds the ceiling', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    const client = createKernelClient({ baseUrl: second.url, apiKey: adminKey }).as({ tenant });
    const onSecond = { decide: async () => (await client.evaluate({ body: { ...call(), ...read } as never })).body };
    expect(answerOf(await onSecond.decide())).toBe('ALLOW ALLOWED');
    const { body } = await tell(tenant, { tool_calls: 9 });
    expect(body).toMatchObject({ counted: true, budget: { used: { tool_calls: 10 }, remaining: { tool_calls: 0 } } });
    expect(answerOf(await onSecond.decide())).toBe('DENY BUDGET_EXCEEDED');
    expect(answerOf(await new Caller(test, tenant).decide(read))).toBe('DENY BUDGET_EXCEEDED');
  });

  verifies('kn.budget', 'counts in the window in which it happened, and in no later one', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    const yesterday = ago(dayMs);
    const { body } = await tell(tenant, { tool_calls: 3, occurred_at: yesterday });
    expect([body.counted, body.budget.used.tool_calls]).toEqual([false, 0]);
    expect((await tell(tenant, { tool_calls: 3, occurred_at: yesterday })).body.counted).toBe(false);
    const midnight = `${time.clock().toISOString().slice(0, 10)}T00:00:00.000Z`;
    expect((await tell(tenant, { event_id: 'first', tool_calls: 1, occurred_at: midnight })).body.counted).toBe(true);
    expect((await usedOf(tenant)).tool_calls).toBe(1);
  });

  verifies('kn.tenants', 'belongs to one tenant, even if events of two tenants have the same ID', async () => {
    const [tenant, neighbour] = [await planned({ tool_call_limit: 5 }), await planned({ tool_call_limit: 5 })];
    await tell(tenant, { tool_calls: 1 });
    await tell(neighbour, { tool_calls: 4 });
    expect([(await usedOf(tenant)).tool_calls, (await usedOf(neighbour)).tool_calls]).toEqual([1, 4]);
  });
});

describe('an event', () => {
  it('with a used ID and different amounts is refused', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    await tell(tenant, { tool_calls: 1 });
    expect(await refusal(tell(tenant, { tool_calls: 2 }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await usedOf(tenant)).tool_calls).toBe(1);
  });

  it.each<[string, Report & { agoMs?: number }]>([
    ['in a different currency than the budget', { amount_minor: 1, currency: 'USD' }],
    ['of money without a currency', { amount_minor: 1 }],
    ['of no money, in a different currency than the budget', { tool_calls: 1, currency: 'USD' }],
    ['older than the retention of event IDs', { tool_calls: 1, agoMs: keptMs + 1 }],
    ['with a time in the future', { tool_calls: 1, agoMs: -skewMs - 1 }],
    ['with a negative quantity', { tool_calls: -1 }],
    ['without an ID', { event_id: '' }],
    ['with an ID of several lines', { event_id: 'a\nb' }],
  ])('%s is refused and counts nothing', async (_, { agoMs = 0, ...usage }) => {
    const tenant = await planned({ spend_limit_minor: 100, currency: 'EUR' });
    expect(await refusal(tell(tenant, { occurred_at: ago(agoMs), ...usage }))).toBe('INVALID_REQUEST');
    expect(await usedOf(tenant)).toEqual({ tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 });
  });

  it('is refused with the name of the invalid member, and may be in the future within the clock skew', async () => {
    const tenant = await planned({ spend_limit_minor: 100, currency: 'EUR' });
    const refused = [
      ['occurred_at', { tool_calls: 1, occurred_at: ago(keptMs + 1) }],
      ['occurred_at', { tool_calls: 1, occurred_at: ago(-skewMs - 1) }],
      ['currency', { amount_minor: 1, currency: 'USD' }],
    ] as const;
    for (const [param, usage] of refused)
      await expect(tell(tenant, usage)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
    const early = { tool_calls: 1, occurred_at: ago(-skewMs) };
    expect((await tell(tenant, early)).body.counted).toBe(true);
  });

  it('of a missing budget or of the installation is refused', async () => {
    const tenant = newTenant();
    expect(await refusal(tell(tenant, { tool_calls: 1 }))).toBe('NOT_FOUND');
    expect(await refusal(tell('*', { tool_calls: 1 }))).toBe('INVALID_REQUEST');
    expect(await refusal(tell(tenant, { tool_calls: 1 }, { id: 'ceiling.installation' }))).toBe('INVALID_REQUEST');
  });

  it('is accepted from services only', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    const body = { event_id: 'e1', occurred_at: time.clock().toISOString(), tool_calls: 1 } as never;
    const asOperator = test.as(tenant).recordBudgetUsage({ params: { tenant, budget_id }, body });
    expect(await refusal(asOperator)).toBe('CREDENTIALS_INVALID');
  });

  it('has its ID deleted when it is too old to be reported again, and not before', async () => {
    const tenant = await planned({ tool_call_limit: 5, window: 'total' });
    const usage = { tool_calls: 1, occurred_at: time.clock().toISOString() };
    await tell(tenant, usage);
    const names = async () =>
      (await test.pool.query('SELECT 1 FROM budget_usage WHERE tenant_id = $1', [tenant])).rowCount;
    time.advance(35 * dayMs);
    await test.kernel.workers.housekeeper.run();
    expect([await names(), (await tell(tenant, usage)).body.counted]).toEqual([1, true]);
    time.advance(300_001);
    await test.kernel.workers.housekeeper.run();
    expect(await names()).toBe(0);
    expect(await refusal(tell(tenant, usage))).toBe('INVALID_REQUEST');
    expect((await usedOf(tenant)).tool_calls).toBe(1);
  });
});
