import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { voidInvoice } from '../src/invoicing/void-invoice.ts';
import { findCurrentSubscription } from '../src/store/subscriptions.ts';
import { moveSubscription } from '../src/subscriptions/move-subscription.ts';
import { closeMonths, idOf, newCaller, openBilling, openInvoice, type Billing } from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

it('a subscription becomes active again when its last open invoice is voided', async () => {
  const caller = newCaller();
  const first = await openInvoice(billing, caller);
  const [draft] = await closeMonths(billing, caller, { months: 1, from: 1 });
  const second = await finalizeInvoice(billing.deps, idOf(draft), caller);
  await moveSubscription(billing.deps, 'fail_payment', caller);
  const current = () => findCurrentSubscription(billing.database.reader, caller.orgId);
  await voidInvoice(billing.deps, first.id, caller);
  expect(await current()).toMatchObject({ status: 'past_due' });
  await voidInvoice(billing.deps, second.id, caller);
  expect(await current()).toMatchObject({ status: 'active', pastDueSince: null });
});
