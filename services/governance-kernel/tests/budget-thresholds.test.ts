import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { microsOf, type BudgetId, type TenantId } from '@countersign/contracts';
import { createKernelClient } from '@countersign/contracts/routes';
import { verifies } from '@countersign/testkit/verifies';
import type { BudgetAmounts, BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { thresholdsReached } from '../src/controls/budgets/thresholds.ts';
import { budgetThresholdEvents } from '../src/events.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, movableClock, newSession, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: thresholds
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, agent.spawn] } }
`;
const hourMs = 3_600_000;
const time = movableClock('2026-11-21T10:30:00.000Z');

let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  const overrides = { clock: time.clock };
  const env = { GOV_POLICY_MAX_AGE: '400d', GOV_MODEL_SPEND_LIMIT: '100 EUR' };
  test = await startTestKernel({ overrides, env });
  await test.activate('*', policy);
  second = await startKernel(kernelConfigFrom(test.env), overrides);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let tenants = 0;
const newTenant = () => `watched-${(tenants += 1)}`;
const read = { tool: 'files.read', effect_level: 'E1' };

async function put(tenant: string, terms: object, headers: Record<string, string> = {}): Promise<void> {
  const body = { subject: 'tenant', window: '1h', ...terms } as never; // the schema fills in the defaults
  await test.as(tenant).putBudget({ params: { budget_id: 'watched' }, body, headers });
}

type Report = { data: { amount: string; percent: number; used: number; limit: number } & Record<string, unknown> };

async function reportOf(tenant: string): Promise<Report['data'][]> {
  const { rows } = await test.pool.query<{ envelope: Report }>(
    `SELECT envelope::jsonb FROM outbox WHERE type = 'kernel.budget.threshold.v1' AND envelope::jsonb ->> 'tenantid' = $1
      ORDER BY position`,
    [tenant],
  );
  return rows.map(({ envelope }) => envelope.data);
}
const inShort = async (tenant: string) =>
  (await reportOf(tenant)).map(({ amount, percent, used }) => `${amount} ${percent} ${used}`);

describe('a threshold', () => {
  verifies('kn.budget', 'is reported at 75, 90 and 100 %, by the call that reaches it', async () => {
    const tenant = newTenant();
    await put(tenant, { tool_call_limit: 20, write_limit: 100 });
    const agent = new Caller(test, tenant);
    for (let calls = 0; calls < 14; calls += 1) await agent.decide(read);
    expect(await reportOf(tenant)).toEqual([]);
    for (let calls = 0; calls < 7; calls += 1) await agent.decide(read);
    expect(await inShort(tenant)).toEqual(['tool_calls 75 15', 'tool_calls 90 18', 'tool_calls 100 20']);
    expect((await reportOf(tenant))[0]).toEqual({
      tenant_id: tenant,
      budget_id: 'watched',
      subject: 'tenant',
      window: '1h',
      amount: 'tool_calls',
      percent: 75,
      used: 15,
      limit: 20,
      currency: null,
      resets_at: new Date(Math.ceil(time.clock().getTime() / hourMs) * hourMs).toISOString(),
      reached_at: time.clock().toISOString(),
    });
  });

  verifies('kn.budget', 'is reported once for 50 parallel calls on two kernels', async () => {
    const tenant = newTenant();
    await put(tenant, { tool_call_limit: 40 });
    const clients = [test.kernel.url, second.url].map((baseUrl) =>
      createKernelClient({ baseUrl, apiKey: adminKey }).as({ tenant }),
    );
    const calls = clients.flatMap((client) => Array.from({ length: 25 }, () => client));
    const decide = async (client: (typeof clients)[number]) => {
      const body = { action: 'tool.call', session_id: newSession(), ...read } as never; // strings without brands
      return answerOf((await client.evaluate({ body })).body);
    };
    const verdicts = await Promise.all(calls.map(decide));
    expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(40);
    expect(await inShort(tenant)).toEqual(['tool_calls 75 30', 'tool_calls 90 36', 'tool_calls 100 40']);
  });

  verifies('kn.budget', 'is reported when a call is settled, for its usage and not for its reservation', async () => {
    const tenant = newTenant();
    await put(tenant, { spend_limit_minor: 100, currency: 'EUR' });
    const { boundary } = test.kernel.context;
    const session = newSession();
    const call = () => spawnedAgent({ tenant, session, demand: { spend_micros: microsOf(80) } });
    const cheap = await decideAndDie(boundary, call());
    await boundary.settle(cheap, { outcome: 'completed', spentMicros: microsOf(10) });
    expect(await reportOf(tenant)).toEqual([]);
    const dear = await decideAndDie(boundary, call());
    await boundary.settle(dear, { outcome: 'completed', spentMicros: microsOf(80) });
    expect(await reportOf(tenant)).toMatchObject([
      { amount: 'spend_minor', percent: 75, used: 90, limit: 100, currency: 'EUR' },
      { amount: 'spend_minor', percent: 90, used: 90, limit: 100, currency: 'EUR' },
    ]);
  });

  verifies('kn.budget', 'is reported again in the next window, and under a raised limit', async () => {
    const tenant = newTenant();
    await put(tenant, { tool_call_limit: 1 });
    const agent = new Caller(test, tenant);
    await agent.decide(read);
    const all = [75, 90, 100].map((percent) => `tool_calls ${percent} 1`);
    expect(await inShort(tenant)).toEqual(all);
    await put(tenant, { tool_call_limit: 2 }, { 'if-match': '"1"' });
    await agent.decide(read);
    const raised = [...all, ...all.map((line) => line.replace(/1$/, '2'))];
    expect(await inShort(tenant)).toEqual(raised);
    time.advance(hourMs);
    await agent.decide(read);
    expect(await inShort(tenant)).toEqual(raised);
    await agent.decide(read);
    expect(await inShort(tenant)).toHaveLength(9);
  });

  verifies('kn.budget', 'is reported when a lower limit makes the usage reach it', async () => {
    const tenant = newTenant();
    await put(tenant, { tool_call_limit: 100 });
    const agent = new Caller(test, tenant);
    for (let calls = 0; calls < 4; calls += 1) await agent.decide(read);
    await put(tenant, { tool_call_limit: 5 }, { 'if-match': '"1"' });
    expect(await inShort(tenant)).toEqual(['tool_calls 75 4']);
    await put(tenant, { tool_call_limit: 5 }, { 'if-match': '"2"' });
    expect(await inShort(tenant)).toHaveLength(1);
  });

  verifies('kn.budget', 'is reported for external usage, and not twice for one event', async () => {
    const tenant = newTenant();
    await put(tenant, { egress_limit_bytes: 1_000 });
    const body = { event_id: 'e', occurred_at: time.clock().toISOString(), egress_bytes: 950 } as never;
    const tell = () => test.system.recordBudgetUsage({ params: { tenant, budget_id: 'watched' }, body });
    await Promise.all([tell(), tell()]);
    expect(await inShort(tenant)).toEqual(['egress_bytes 75 950', 'egress_bytes 90 950']);
  });

  it('of the installation’s ceiling names no tenant', () => {
    const row = { ...budget({ spend_minor: 100 }), tenant: '*' as TenantId, id: 'ceiling.installation' as BudgetId };
    const use = { before: [row], after: [{ ...row, used: { ...none, spend_micros: microsOf(75) } }], nowMs: 0 };
    const [event] = budgetThresholdEvents(test.kernel.context, use);
    expect([event?.event.tenantid, event?.event.data]).toMatchObject([undefined, { tenant_id: null, percent: 75 }]);
  });
});

const none: BudgetAmounts = { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 };
const budget = (limits: Partial<BudgetRow['limits']>, used: Partial<BudgetAmounts> = {}): BudgetRow => ({
  tenant: 'acme' as TenantId,
  id: 'b' as BudgetId,
  subject: 'tenant',
  window: '1h',
  limits: { tool_calls: null, spend_minor: null, egress_bytes: null, writes: null, ...limits },
  approvalRequiredAboveMinor: null,
  currency: 'EUR',
  used: { ...none, ...used },
  reserved: none,
  resetsAtMs: null,
  revision: 0,
});
const reached = (before: BudgetRow | null, after: BudgetRow) =>
  thresholdsReached(before, after).map(({ amount, percent }) => `${amount} ${percent}`);

describe('the arithmetic of thresholds', () => {
  it('is exact to fractions of a minor unit', () => {
    const before = budget({ spend_minor: 4 });
    const spent = (spend_micros: bigint) => budget({ spend_minor: 4 }, { spend_micros });
    expect(reached(before, spent(2_999_999n))).toEqual([]);
    expect(reached(before, spent(3_000_000n))).toEqual(['spend_minor 75']);
    expect(reached(spent(3_000_000n), spent(3_599_999n))).toEqual([]);
    expect(reached(spent(3_599_999n), spent(3_600_000n))).toEqual(['spend_minor 90']);
    const most = Number.MAX_SAFE_INTEGER;
    expect(reached(budget({ writes: most }), budget({ writes: most }, { writes: most - 1 }))).toEqual([
      'writes 75',
      'writes 90',
    ]);
  });

  it('reports every threshold that one commit passes, for each ceiling separately', () => {
    const limits = { tool_calls: 10, writes: 10 };
    expect(reached(budget(limits, { writes: 9 }), budget(limits, { tool_calls: 10, writes: 10 }))).toEqual([
      'tool_calls 75',
      'tool_calls 90',
      'tool_calls 100',
      'writes 100',
    ]);
  });

  it('reports nothing for a ceiling of zero until something is used', () => {
    expect(reached(null, budget({ tool_calls: 0 }))).toEqual([]);
    expect(reached(budget({ tool_calls: 0 }), budget({ tool_calls: 0 }, { tool_calls: 1 }))).toHaveLength(3);
    expect(reached(budget({}), budget({}, { tool_calls: 1_000 }))).toEqual([]);
  });
});
