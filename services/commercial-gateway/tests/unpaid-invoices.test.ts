import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller } from '../src/billing-deps.ts';
import { beginTrial } from '../src/activation/begin-trial.ts';
import { putSubscription } from '../src/invoicing/put-subscription.ts';
import { recordPayment } from '../src/invoicing/record-payment.ts';
import { findCurrentSubscription } from '../src/store/subscriptions.ts';
import { moveSubscription } from '../src/subscriptions/move-subscription.ts';
import { newCaller, openBilling, openInvoice, start, type Billing } from './_billing-database.ts';

const dayMs = 86_400_000;
const after = (days: number) => new Date(start.getTime() + days * dayMs);
const team = { planId: BillingPlanId.parse('team'), planVersion: 1 };

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

/** Creates an unpaid subscription with one open invoice of 1,000 minor units. */
async function becomeUnpaid(caller: BillingCaller) {
  const invoice = await openInvoice(billing, caller);
  billing.setTime(after(31));
  await moveSubscription(billing.deps, 'fail_payment', caller);
  billing.setTime(after(45));
  await moveSubscription(billing.deps, 'end_grace', caller);
  return invoice;
}

const put = (plan: typeof team | null, caller: BillingCaller) =>
  putSubscription(billing.deps, { plan, taxPercent: null }, caller);

it('an unpaid organisation cannot become active by canceling and subscribing again', async () => {
  const caller = newCaller();
  const { id: invoiceId } = await becomeUnpaid(caller);
  await put(null, caller);
  await expect(put(team, caller)).rejects.toMatchObject({
    ...{ code: 'GATE_NOT_PASSED', details: { missing: ['paid_invoices'] } },
  });
  expect(await findCurrentSubscription(billing.database.reader, caller.orgId)).toBeNull();
  const payment = { amountMinor: 1_000n, currency: 'EUR', reference: 'p1' };
  await recordPayment(billing.deps, { invoiceId, ...payment }, caller);
  expect((await put(team, caller)).subscription).toMatchObject({ status: 'active' });
});

it('an unpaid organisation cannot continue with a trial after canceling', async () => {
  const caller = newCaller();
  await becomeUnpaid(caller);
  await put(null, caller);
  const domain = { orgId: caller.orgId, domain: 'unpaid.example', challenge: 'c', claimedAt: start, verifiedAt: start };
  await billing.database.transaction((tx) => tx.claimedDomain.create({ data: domain }));
  await expect(beginTrial(billing.deps, caller)).rejects.toMatchObject({ details: { missing: ['paid_invoices'] } });
});
