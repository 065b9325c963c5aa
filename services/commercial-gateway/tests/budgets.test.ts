import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller } from '../src/billing-deps.ts';
import { reachedThresholds } from '../src/billing/budget.ts';
import { checkBudget } from '../src/budgets/check-budget.ts';
import { setBudget } from '../src/budgets/set-budget.ts';
import { previewInvoice } from '../src/invoicing/preview-invoice.ts';
import { microsPerUnit } from '../src/metering/micros.ts';
import { recordUsage } from '../src/store/usage-events.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';
import {
  closeMonths,
  countRows,
  newCaller,
  openBilling,
  start,
  subscribe,
  testPlan,
  type Billing,
} from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

let ids = 0;
const dayMs = 86_400_000;

async function use({ orgId }: BillingCaller, units: number, day = 1): Promise<void> {
  const event = {
    ...({ source: '/test', id: String((ids += 1)), meter: 'tool_calls', workspaceId: null } as const),
    quantityMicros: BigInt(units) * microsPerUnit,
    occurredAt: new Date(start.getTime() + day * dayMs),
  };
  await billing.database.transaction((tx) => recordUsage(tx, { orgId, events: [event], receivedAt: start }));
}

describe('an invoice preview', () => {
  it('shows the amount that the invoice has at the end of the period', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    for (const day of [1, 12, 25, 40]) await use(caller, 33, day);
    const preview = await previewInvoice(billing.database.reader, caller.orgId, '19');
    const [invoice] = await closeMonths(billing, caller, { months: 1, taxPercent: '19' });
    expect(preview).toMatchObject({ totalMinor: invoice?.totalMinor, taxMinor: invoice?.taxMinor, currency: 'EUR' });
    expect(preview?.subtotalMinor).toBe(1_089n);
    const next = await previewInvoice(billing.database.reader, caller.orgId, null);
    expect(next?.subtotalMinor).toBe(1_023n);
  });

  it('does not exist without a billed subscription', async () => {
    const caller = newCaller();
    expect(await previewInvoice(billing.database.reader, caller.orgId, null)).toBeNull();
    await createSubscription(billing.deps, { planId: testPlan.plan_id, planVersion: 1, start: 'trial' }, caller);
    expect(await previewInvoice(billing.database.reader, caller.orgId, null)).toBeNull();
  });
});

describe('a billing budget', () => {
  const thresholds = async (caller: BillingCaller) =>
    (await checkBudget(billing.deps, caller)).map(({ thresholdPercent }) => thresholdPercent);

  it('alerts once per threshold and period, with an event and an audit entry', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    expect(await thresholds(caller)).toEqual([]);
    await setBudget(billing.deps, { amountMinor: 2_000n, currency: 'EUR' }, caller);
    const audited = await countRows(billing, 'audit_entries', caller);
    expect(await thresholds(caller)).toEqual([]);
    await use(caller, 10 + 499);
    expect(await thresholds(caller)).toEqual([]);
    await use(caller, 1);
    expect((await Promise.all([thresholds(caller), thresholds(caller)])).flat()).toEqual([75]);
    await use(caller, 700);
    expect(await thresholds(caller)).toEqual([90, 100]);
    expect(await countRows(billing, 'audit_entries', caller)).toBe(audited + 3);
    const type = 'billing-budget.reached.v1';
    const sent = await billing.database.reader.outboxMessage.findMany({ where: { type } });
    expect(sent.filter(({ envelope }) => envelope.includes(`"org_id":"${caller.orgId}"`))).toHaveLength(3);
    await closeMonths(billing, caller, { months: 1 });
    await use(caller, 510, 35);
    expect(await thresholds(caller)).toEqual([75]);
  });

  it('is refused in a currency other than that of the plan, with an amount of zero, or without a billed plan', async () => {
    const caller = newCaller();
    const set = (amountMinor: bigint, currency: string) => setBudget(billing.deps, { amountMinor, currency }, caller);
    await expect(set(1n, 'EUR')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await subscribe(billing, caller);
    await expect(set(1n, 'JPY')).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'currency' });
    await expect(set(0n, 'EUR')).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'amount_minor' });
    expect(await countRows(billing, 'billing_budgets', caller)).toBe(0);
  });

  it('is refused on plan self_hosted', async () => {
    const caller = newCaller();
    const plan = { planId: 'self_hosted' as BillingPlanId, planVersion: 1, start: 'active' } as const;
    await createSubscription(billing.deps, plan, caller);
    await expect(setBudget(billing.deps, { amountMinor: 1n, currency: 'EUR' }, caller)).rejects.toThrow('has a price');
  });
});

it.each([
  [74n, []],
  [75n, [75]],
  [89n, [75]],
  [90n, [75, 90]],
  [99n, [75, 90]],
  [100n, [75, 90, 100]],
  [10n ** 15n, [75, 90, 100]],
])('an amount of %s of 100 reaches the thresholds %j', (amount, reached) => {
  expect(reachedThresholds(amount, 100n)).toEqual(reached);
});
