import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { BillingCaller } from '../src/billing-deps.ts';
import { monthlyPeriod } from '../src/billing/period.ts';
import { setBudget } from '../src/budgets/set-budget.ts';
import { runBilling, type CycleDeps } from '../src/cycle/run-billing.ts';
import { grantCredit } from '../src/invoicing/grant-credit.ts';
import { createStripeClient } from '../src/payments/stripe-client.ts';
import { createStripeProvider } from '../src/payments/stripe-provider.ts';
import type { Transaction } from '../src/store/database.ts';
import { insertCustomer, setPaymentMethod } from '../src/store/payment-customers.ts';
import { createLogger } from '@countersign/service-kit';
import { countRows, findUnsound, newCaller, openBilling, start, subscribe, type Billing } from './_billing-database.ts';
import { FakeStripe, stripeKeys } from './_stripe.ts';

let billing: Billing;
let stripe: FakeStripe;
let deps: CycleDeps;

beforeAll(async () => {
  billing = await openBilling();
  stripe = new FakeStripe();
  const client = createStripeClient({ secretKey: stripeKeys.secretKey, apiUrl: await stripe.listen() });
  const { webhookSecret } = stripeKeys;
  const charging = createStripeProvider({ client, webhookSecret, returnUrl: 'https://console.test' });
  const log = createLogger({ service: 'commercial-gateway', silent: true });
  const payments = { charging, byName: { stripe: charging } };
  deps = { ...billing.deps, database: billing.database, payments, log, taxPercent: '19' };
});
afterAll(async () => {
  await stripe?.close();
  await billing?.close();
});

const monthEnd = monthlyPeriod(start, 0).end;

/** Returns an organisation whose month has ended, with a reached budget, an expiring credit and a payment method. */
async function dueOrg(): Promise<BillingCaller> {
  const caller = newCaller();
  await subscribe(billing, caller);
  const expiresAt = new Date(monthEnd.getTime() - 1);
  const credit = { kind: 'promotional', currency: 'EUR', amountMinor: 300n, expiresAt, reason: 'test' } as const;
  await grantCredit(billing.deps, { ...credit, reference: 'c1' }, caller);
  await setBudget(billing.deps, { amountMinor: 1_000n, currency: 'EUR' }, caller);
  const place = { orgId: caller.orgId, provider: 'stripe' } as const;
  await billing.database.transaction(async (tx) => {
    await insertCustomer(tx, { ...place, customerId: `cus_${caller.orgId}`, createdAt: start });
    await setPaymentMethod(tx, place, 'pm_ok');
  });
  return caller;
}

/** Returns the `transaction` of a process that dies in its transaction `number`, before or after the commit. */
function dyingAt(number: number, when: 'before' | 'after'): { transaction: Transaction; hasDied: () => boolean } {
  let count = 0;
  const hasDied = () => count >= number;
  const transaction: Transaction = async (work) => {
    if (hasDied()) throw new Error('The process is dead');
    count += 1;
    if (!hasDied()) return await billing.database.transaction(work);
    if (when === 'after') await billing.database.transaction(work);
    throw new Error('The process dies');
  };
  return { transaction, hasDied };
}

verifies(
  'cg.ledger',
  'billing continues after a worker dies at any step: one invoice, one charge, one alert, a sound ledger',
  async () => {
    let at = monthEnd.getTime();
    let steps = 0;
    for (let number = 1; ; number += 1) {
      const ends: boolean[] = [];
      for (const when of ['before', 'after'] as const) {
        const caller = await dueOrg();
        billing.setTime(new Date(at));
        const { transaction, hasDied } = dyingAt(number, when);
        await runBilling({ ...deps, transaction }).catch(() => undefined);
        ends.push(hasDied());
        // Moves past the lease of a claimed invoice.
        at += 301_000;
        billing.setTime(new Date(at));
        await runBilling(deps);
        await expectBilledOnce(caller);
      }
      if (ends.includes(false)) break;
      steps = number;
    }
    // A smaller number means that the pass no longer has the steps that this test interrupts.
    expect(steps).toBeGreaterThanOrEqual(14);
  },
);

async function expectBilledOnce(caller: BillingCaller): Promise<void> {
  const { reader } = billing.database;
  const { orgId } = caller;
  const invoices = await reader.invoice.findMany({ where: { orgId } });
  expect(invoices).toMatchObject([{ status: 'paid', totalMinor: 1_190n, paidMinor: 1_190n, number: 1 }]);
  const charged = stripe.charged.filter(({ intent }) => stripe.intents.get(intent)?.metadata['org_id'] === orgId);
  expect(charged).toMatchObject([{ amount: 1_190 }]);
  expect(await reader.creditGrant.findFirst({ where: { orgId } })).toMatchObject({ remainingMinor: 0n });
  const alerts = await reader.billingAlert.findMany({ where: { orgId } });
  const periods = new Set(alerts.map(({ periodStart }) => periodStart.getTime()));
  expect(alerts).toHaveLength(3 * periods.size);
  expect(await countRows(billing, 'ledger_transactions', caller)).toBe(4);
  expect(await findUnsound(billing, caller)).toEqual([]);
}

it('concurrent workers bill, charge and alert once', async () => {
  const callers = await Promise.all(Array.from({ length: 4 }, dueOrg));
  billing.setTime(new Date('2027-02-05T00:00:00.000Z'));
  await Promise.all([runBilling(deps), runBilling(deps), runBilling(deps)].map((pass) => pass.catch(() => undefined)));
  billing.setTime(new Date('2027-02-05T00:06:00.000Z'));
  await runBilling(deps);
  for (const caller of callers) await expectBilledOnce(caller);
});
