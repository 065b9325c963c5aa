import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller } from '../src/billing-deps.ts';
import { cancelSubscription } from '../src/invoicing/cancel-subscription.ts';
import { changePlan } from '../src/invoicing/change-plan.ts';
import { closePeriod } from '../src/invoicing/close-period.ts';
import { expireCredits } from '../src/invoicing/expire-credits.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { grantCredit } from '../src/invoicing/grant-credit.ts';
import { replaceInvoice } from '../src/invoicing/replace-invoice.ts';
import { recordPayment } from '../src/invoicing/record-payment.ts';
import { recordRefund } from '../src/invoicing/record-refund.ts';
import { voidInvoice } from '../src/invoicing/void-invoice.ts';
import { writeOffInvoice } from '../src/invoicing/write-off-invoice.ts';
import { microsPerUnit } from '../src/metering/micros.ts';
import { recordUsage } from '../src/store/usage-events.ts';
import { spendCredits } from '../src/store/credit-grants.ts';
import { storePlanVersions } from '../src/store/plan-versions.ts';
import { findCurrentSubscription } from '../src/store/subscriptions.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';
import { moveSubscription } from '../src/subscriptions/move-subscription.ts';
import {
  balancesOf,
  closeMonths,
  countRows,
  findUnsound,
  idOf,
  newCaller,
  openBilling,
  openInvoice,
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

const dayMs = 86_400_000;
const after = (days: number) => new Date(start.getTime() + days * dayMs);
const credit = { kind: 'promotional', currency: 'EUR', expiresAt: null, reason: 'test' } as const;
const cash = (amountMinor: bigint, reference: string) => ({ amountMinor, currency: 'EUR', reference });

describe('an invoice', () => {
  it('is paid in parts and refunded in parts, with the tax in proportion', async () => {
    const caller = newCaller();
    const open = await openInvoice(billing, caller, '19');
    expect(open).toMatchObject({
      status: 'open',
      number: 1,
      subtotalMinor: 1_000n,
      taxMinor: 190n,
      totalMinor: 1_190n,
    });
    expect(await balancesOf(billing, caller)).toEqual({ receivable: 1_190, revenue: -1_000, tax: -190 });
    const { deps } = billing;
    const first = await recordPayment(deps, { invoiceId: open.id, ...cash(190n, 'p1') }, caller);
    expect(first).toMatchObject({ status: 'open', paidMinor: 190n });
    const second = await recordPayment(deps, { invoiceId: open.id, ...cash(1_000n, 'p2') }, caller);
    expect(second).toMatchObject({ status: 'paid', paidMinor: 1_190n });
    await recordRefund(deps, { invoiceId: open.id, ...cash(119n, 'r1') }, caller);
    expect(await balancesOf(billing, caller)).toEqual({ cash: 1_071, revenue: -900, tax: -171 });
    await recordRefund(deps, { invoiceId: open.id, ...cash(1_071n, 'r2') }, caller);
    expect(await balancesOf(billing, caller)).toEqual({});
    expect(await findUnsound(billing, caller)).toEqual([]);
  });

  it('rejects amounts and currencies that do not fit, and changes nothing', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller);
    const rows = await countRows(billing, 'ledger_transactions', caller);
    const pay = (movement: object) =>
      recordPayment(billing.deps, { invoiceId, ...cash(1n, 'p1'), ...movement }, caller);
    await expect(pay({ currency: 'JPY' })).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'currency' });
    for (const amountMinor of [0n, -1n, 1_001n])
      await expect(pay({ amountMinor })).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'amount_minor' });
    await expect(recordRefund(billing.deps, { invoiceId, ...cash(1n, 'r1') }, caller)).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
    });
    await pay({ amountMinor: 1_000n });
    for (const amountMinor of [0n, 1_001n])
      await expect(recordRefund(billing.deps, { invoiceId, ...cash(amountMinor, 'r2') }, caller)).rejects.toMatchObject(
        { code: 'INVALID_REQUEST', param: 'amount_minor' },
      );
    await expect(pay({ reference: 'p2' })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(await countRows(billing, 'ledger_transactions', caller)).toBe(rows + 1);
  });

  it('is not found by another organisation', async () => {
    const { id } = await openInvoice(billing, newCaller());
    await expect(finalizeInvoice(billing.deps, id, newCaller())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(voidInvoice(billing.deps, id, newCaller())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('posts a repeated payment and a repeated refund once, and refuses their reference for another amount', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller);
    const pay = (amount: bigint) => recordPayment(billing.deps, { invoiceId, ...cash(amount, 'p1') }, caller);
    const refund = (amount: bigint) => recordRefund(billing.deps, { invoiceId, ...cash(amount, 'r1') }, caller);
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED' };
    expect(await pay(1_000n)).toEqual(await pay(1_000n));
    await expect(pay(1n)).rejects.toMatchObject(reused);
    const yen = { invoiceId, ...cash(1_000n, 'p1'), currency: 'JPY' };
    await expect(recordPayment(billing.deps, yen, caller)).rejects.toMatchObject(reused);
    expect(await refund(400n)).toEqual(await refund(400n));
    await expect(refund(1n)).rejects.toMatchObject(reused);
    expect(await balancesOf(billing, caller)).toEqual({ cash: 600, revenue: -600 });
  });

  it('uses the credits that expire first, and returns credits when it is voided', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    const grant = (reference: string, amountMinor: bigint, expiresAt: Date | null) =>
      grantCredit(billing.deps, { ...credit, amountMinor, expiresAt, reference }, caller);
    await grant('never', 500n, null);
    await grant('soon', 300n, after(40));
    await grant('expired', 900n, after(20));
    const [draft] = await closeMonths(billing, caller, { months: 1 });
    const open = await finalizeInvoice(billing.deps, idOf(draft), caller);
    expect(open).toMatchObject({ status: 'open', creditedMinor: 800n });
    expect(await voidInvoice(billing.deps, open.id, caller)).toMatchObject({ status: 'void', creditedMinor: 0n });
    expect(await balancesOf(billing, caller)).toEqual({ credits: -1_700, revenue: 1_700 });
    const grants = await billing.database.reader.creditGrant.findMany({ where: { orgId: caller.orgId } });
    expect(grants.every(({ amountMinor, remainingMinor }) => amountMinor === remainingMinor)).toBe(true);
    billing.setTime(after(50));
    const expired = await expireCredits(billing.deps, caller);
    expect(expired.map(({ remainingMinor }) => remainingMinor).toSorted()).toEqual([300n, 900n]);
    expect(await expireCredits(billing.deps, caller)).toEqual([]);
    expect(await balancesOf(billing, caller)).toEqual({ credits: -500, revenue: 500 });
    expect(await findUnsound(billing, caller)).toEqual([]);
  });

  it('is paid at once when credits cover it, and the rest of the credits remains', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    await grantCredit(billing.deps, { ...credit, kind: 'purchased', amountMinor: 1_500n, reference: 'g1' }, caller);
    const [draft] = await closeMonths(billing, caller, { months: 1 });
    expect(await finalizeInvoice(billing.deps, idOf(draft), caller)).toMatchObject({ status: 'paid', paidMinor: 0n });
    expect(await balancesOf(billing, caller)).toEqual({ cash: 1_500, credits: -500, revenue: -1_000 });
  });

  it('is written off in the amount of its open part', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller, '20');
    await recordPayment(billing.deps, { invoiceId, ...cash(300n, 'p1') }, caller);
    expect(await writeOffInvoice(billing.deps, invoiceId, caller)).toMatchObject({ status: 'uncollectible' });
    expect(await balancesOf(billing, caller)).toEqual({ cash: 300, revenue: -250, tax: -50 });
    await expect(voidInvoice(billing.deps, invoiceId, caller)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  it('is corrected by voiding it and billing the same usage once in a replacement', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    const events = [15, 7].map((units, day) => ({
      ...({
        source: '/test',
        id: `e${units}`,
        meter: 'tool_calls',
        workspaceId: null,
        occurredAt: after(day),
      } as const),
      quantityMicros: BigInt(units) * microsPerUnit,
    }));
    await billing.database.transaction((tx) => recordUsage(tx, { orgId: caller.orgId, events, receivedAt: start }));
    const [draft] = await closeMonths(billing, caller, { months: 1, taxPercent: '19' });
    const id = idOf(draft);
    const correction = { id, planVersion: testPlan.version, taxPercent: '7' };
    const replace = () => replaceInvoice(billing.deps, correction, caller);
    await finalizeInvoice(billing.deps, id, caller);
    await expect(replace()).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await voidInvoice(billing.deps, id, caller);
    const replaced = await replace();
    expect(replaced).toMatchObject({ status: 'draft', subtotalMinor: 1_012n, taxMinor: 71n });
    await expect(replace()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(replaceInvoice(billing.deps, correction, newCaller())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await finalizeInvoice(billing.deps, replaced.id, caller)).toMatchObject({ status: 'open', number: 2 });
    expect(await balancesOf(billing, caller)).toEqual({ receivable: 1_083, revenue: -1_012, tax: -71 });
    const [next] = await closeMonths(billing, caller, { months: 1, from: 1 });
    expect(next?.totalMinor).toBe(1_000n);
    expect(await findUnsound(billing, caller)).toEqual([]);
  });

  it('cannot be voided when it has payments', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller);
    await recordPayment(billing.deps, { invoiceId, ...cash(300n, 'p1') }, caller);
    await expect(voidInvoice(billing.deps, invoiceId, caller)).rejects.toThrow('has payments');
  });
});

describe('a credit grant', () => {
  it('is created once per reference, and a reference with other terms is refused', async () => {
    const caller = newCaller();
    const grant = (amountMinor: bigint) =>
      grantCredit(billing.deps, { ...credit, amountMinor, reference: 'g1' }, caller);
    expect(await grant(5n)).toEqual(await grant(5n));
    await expect(grant(6n)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await balancesOf(billing, caller)).toEqual({ credits: -5, revenue: 5 });
  });
});

describe('stored limits', () => {
  it('a grant is never spent beyond its remaining amount, even without the lock of the account', async () => {
    const caller = newCaller();
    const grant = await grantCredit(billing.deps, { ...credit, amountMinor: 5n, reference: 'g1' }, caller);
    const spend = (orgId: BillingCaller['orgId'], amountMinor: bigint) =>
      billing.database.transaction((tx) => spendCredits(tx, orgId, [{ grant, amountMinor }]));
    await expect(spend(caller.orgId, 6n)).rejects.toThrow('has less than 6 left');
    await expect(spend(newCaller().orgId, 5n)).rejects.toThrow('has less than 5 left');
    await spend(caller.orgId, 3n);
    await expect(spend(caller.orgId, 3n)).rejects.toThrow('has less than 3 left');
  });

  it('a stored plan version keeps its definition', async () => {
    const store = (plan: typeof testPlan) => billing.database.transaction((tx) => storePlanVersions(tx, [plan], start));
    await store(testPlan);
    await expect(store({ ...testPlan, base_minor: 999 })).rejects.toThrow('Add a version instead');
    await store({ ...testPlan, version: 2, base_minor: 999 });
  });
});

describe('a subscription', () => {
  const current = async ({ orgId }: { orgId: Parameters<typeof findCurrentSubscription>[1] }) =>
    findCurrentSubscription(billing.database.reader, orgId);

  it('is the only one of its organisation', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    await expect(subscribe(billing, caller)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await cancelSubscription(billing.deps, { taxPercent: null }, caller);
    await expect(subscribe(billing, caller)).resolves.toBeUndefined();
  });

  it('becomes unpaid 14 days after the failed payment, and active again when the invoice is paid', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller);
    const failedAt = after(31);
    billing.setTime(failedAt);
    await moveSubscription(billing.deps, 'fail_payment', caller);
    billing.setTime(new Date(failedAt.getTime() + 14 * dayMs - 1));
    await expect(moveSubscription(billing.deps, 'end_grace', caller)).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
    });
    billing.setTime(new Date(failedAt.getTime() + 14 * dayMs));
    expect(await moveSubscription(billing.deps, 'end_grace', caller)).toMatchObject({ status: 'unpaid' });
    await recordPayment(billing.deps, { invoiceId, ...cash(1_000n, 'p1') }, caller);
    expect(await current(caller)).toMatchObject({ status: 'active', pastDueSince: null });
  });

  it('stays past due while another invoice is open', async () => {
    const caller = newCaller();
    const first = await openInvoice(billing, caller);
    const [draft] = await closeMonths(billing, caller, { months: 1, from: 1 });
    const second = await finalizeInvoice(billing.deps, idOf(draft), caller);
    await moveSubscription(billing.deps, 'fail_payment', caller);
    await recordPayment(billing.deps, { invoiceId: first.id, ...cash(1_000n, 'p1') }, caller);
    expect(await current(caller)).toMatchObject({ status: 'past_due' });
    await recordPayment(billing.deps, { invoiceId: second.id, ...cash(1_000n, 'p2') }, caller);
    expect(await current(caller)).toMatchObject({ status: 'active' });
  });

  it('bills the time before a plan change at the old plan and the rest at the new plan', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    billing.setTime(new Date(after(31 / 4).getTime() + 999));
    const team = { planId: 'team' as BillingPlanId, planVersion: 1, taxPercent: null };
    const quarter = await changePlan(billing.deps, team, caller);
    expect(quarter).toMatchObject({ planId: 'test', subtotalMinor: 250n, periodEnd: after(31 / 4) });
    const [rest] = await closeMonths(billing, caller, { months: 1 });
    expect(rest).toMatchObject({ planId: 'team', subtotalMinor: 3_675n, periodStart: after(31 / 4) });
    expect(await current(caller)).toMatchObject({ planId: 'team', periodIndex: 1, periodStart: after(31) });
  });

  it('cannot be changed or canceled before its last period is closed', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    billing.setTime(after(31));
    const change = { planId: testPlan.plan_id, planVersion: 1, taxPercent: null };
    await expect(changePlan(billing.deps, change, caller)).rejects.toMatchObject({ code: 'GATE_NOT_PASSED' });
    await expect(cancelSubscription(billing.deps, { taxPercent: null }, caller)).rejects.toMatchObject({
      code: 'GATE_NOT_PASSED',
    });
  });

  it('closes each period once', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    billing.setTime(new Date(after(31).getTime() - 1));
    expect(await closePeriod(billing.deps, { taxPercent: null }, caller)).toBeNull();
    billing.setTime(after(31));
    const close = () => closePeriod(billing.deps, { taxPercent: null }, caller);
    const closed = await Promise.all([close(), close(), close()]);
    expect(closed.filter((invoice) => invoice !== null)).toHaveLength(1);
    expect(await countRows(billing, 'invoices', caller)).toBe(1);
  });

  it('on plan self_hosted renews without an invoice', async () => {
    const caller = newCaller();
    billing.setTime(start);
    const plan = { planId: 'self_hosted' as BillingPlanId, planVersion: 1, start: 'active' } as const;
    await createSubscription(billing.deps, plan, caller);
    billing.setTime(after(31));
    expect(await closePeriod(billing.deps, { taxPercent: null }, caller)).toBeNull();
    expect(await current(caller)).toMatchObject({ periodIndex: 1 });
    expect(await countRows(billing, 'invoices', caller)).toBe(0);
  });
});
