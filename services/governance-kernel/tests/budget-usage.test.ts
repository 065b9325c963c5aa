import { createKernelClient } from '@countersign/contracts/routes';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, ledgerOf, movableClock, newSession, refusal, said } from './_caller.ts';
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

/** How long the name of an event is kept, and how far clocks may differ. */
const [keptMs, skewMs] = [35 * dayMs, 300_000];
const ago = (ms: number) => new Date(time.clock().getTime() - ms).toISOString();

let tenants = 0;
const newTenant = () => `using-${(tenants += 1)}`;
const budget_id = 'plan.models';
const call = () => ({ action: 'tool.call', session_id: newSession() });
const read = { tool: 'files.read', effect_level: 'E1' };

async function planned(terms: object): Promise<string> {
  const tenant = newTenant();
  const body = { version: 1, subject: 'tenant', window: '24h', ...terms } as never; // the schema has the defaults
  await test.system.putCeiling({ params: { tenant, budget_id }, body });
  return tenant;
}

type Told = Partial<Record<'event_id' | 'occurred_at' | 'currency', string>> & Record<string, unknown>;

function tell(tenant: string, usage: Told, { url = test.kernel.url, id = budget_id } = {}) {
  const body = { event_id: 'e1', occurred_at: time.clock().toISOString(), ...usage } as never; // branded by the schema
  return systemOf(url).recordBudgetUsage({ params: { tenant, budget_id: id }, body });
}
const usedOf = async (tenant: string) => (await test.system.getBudget({ params: { tenant, budget_id } })).body.used;

describe('what was used elsewhere', () => {
  verifies('kn.budget', 'counts once for each event, on whichever kernel it is told, and is sealed once', async () => {
    const tenant = await planned({ tool_call_limit: 100, spend_limit_minor: 1_000, currency: 'EUR' });
    const usage = { amount_minor: 120, currency: 'EUR', tool_calls: 2, egress_bytes: 30, writes: 1 };
    const urls = Array.from({ length: 10 }, () => [test.kernel.url, second.url]).flat();
    const told = await Promise.all(urls.map((url) => tell(tenant, usage, { url })));
    expect(told.map(({ body }) => [body.event_id, body.counted])).toEqual(Array(20).fill(['e1', true]));
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

  verifies('kn.budget', 'is counted in full when many events are told at once', async () => {
    const tenant = await planned({ tool_call_limit: 1_000 });
    const one = (index: number) =>
      tell(tenant, { event_id: `e-${index}`, tool_calls: 1 }, { url: index % 2 ? second.url : test.kernel.url });
    await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)));
    expect((await usedOf(tenant)).tool_calls).toBe(50);
  });

  verifies('kn.budget', 'is what the next decision sees on every kernel, beyond the ceiling too', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    const client = createKernelClient({ baseUrl: second.url, apiKey: adminKey }).as({ tenant });
    const onSecond = { decide: async () => (await client.evaluate({ body: { ...call(), ...read } as never })).body };
    expect(said(await onSecond.decide())).toBe('ALLOW ALLOWED');
    const { body } = await tell(tenant, { tool_calls: 9 });
    expect(body).toMatchObject({ counted: true, budget: { used: { tool_calls: 10 }, remaining: { tool_calls: 0 } } });
    expect(said(await onSecond.decide())).toBe('DENY BUDGET_EXCEEDED');
    expect(said(await new Caller(test, tenant).decide(read))).toBe('DENY BUDGET_EXCEEDED');
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

  verifies('kn.tenants', 'is that of one tenant and one budget, though the events have one name', async () => {
    const [tenant, other] = [await planned({ tool_call_limit: 5 }), await planned({ tool_call_limit: 5 })];
    await tell(tenant, { tool_calls: 1 });
    await tell(other, { tool_calls: 4 });
    expect([(await usedOf(tenant)).tool_calls, (await usedOf(other)).tool_calls]).toEqual([1, 4]);
  });
});

describe('an event', () => {
  it('of another use under a name that is taken is refused', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    await tell(tenant, { tool_calls: 1 });
    expect(await refusal(tell(tenant, { tool_calls: 2 }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await usedOf(tenant)).tool_calls).toBe(1);
  });

  it.each<[string, Told & { agoMs?: number }]>([
    ['in another currency', { amount_minor: 1, currency: 'USD' }],
    ['of money in no currency', { amount_minor: 1 }],
    ['in another currency and of no money', { tool_calls: 1, currency: 'USD' }],
    ['older than its name is kept', { tool_calls: 1, agoMs: keptMs + 1 }],
    ['of a time that has not come', { tool_calls: 1, agoMs: -skewMs - 1 }],
    ['of less than nothing', { tool_calls: -1 }],
    ['without a name', { event_id: '' }],
    ['with a name in several lines', { event_id: 'a\nb' }],
  ])('%s is refused and counts nothing', async (_, { agoMs = 0, ...usage }) => {
    const tenant = await planned({ spend_limit_minor: 100, currency: 'EUR' });
    expect(await refusal(tell(tenant, { occurred_at: ago(agoMs), ...usage }))).toBe('INVALID_REQUEST');
    expect(await usedOf(tenant)).toEqual({ tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 });
  });

  it('names the member for which it is refused, and may come as early as clocks differ', async () => {
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

  it('of a budget that is not there, or is the installation’s, is refused', async () => {
    const tenant = newTenant();
    expect(await refusal(tell(tenant, { tool_calls: 1 }))).toBe('NOT_FOUND');
    expect(await refusal(tell('*', { tool_calls: 1 }))).toBe('INVALID_REQUEST');
    expect(await refusal(tell(tenant, { tool_calls: 1 }, { id: 'ceiling.installation' }))).toBe('INVALID_REQUEST');
  });

  it('is told by services alone', async () => {
    const tenant = await planned({ tool_call_limit: 5 });
    const body = { event_id: 'e1', occurred_at: time.clock().toISOString(), tool_calls: 1 } as never;
    const asOperator = test.as(tenant).recordBudgetUsage({ params: { tenant, budget_id }, body });
    expect(await refusal(asOperator)).toBe('CREDENTIALS_INVALID');
  });

  it('is forgotten by name when it is too old to be told again, and not before', async () => {
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
