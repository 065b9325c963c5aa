import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import type { Intent } from './_stripe.ts';
import {
  addDays,
  announcedRuns,
  endPeriod,
  lastInvoiceId,
  lastSession,
  operator,
  startPaying,
  stateOf,
  subscribeWith,
  team,
  type Payer,
  type Paying,
} from './_payments.ts';

const monthMinor = 5_831n;

let paying: Paying;
beforeAll(async () => {
  paying = await startPaying();
});
afterAll(() => paying?.stop());

const chargesOf = ({ orgId }: Payer) =>
  paying.stripe.charged.filter(({ intent }) => paying.stripe.intents.get(intent)?.metadata['org_id'] === orgId).length;

const refundsOf = ({ orgId }: Payer) =>
  [...paying.stripe.refunds.values()].filter(({ metadata }) => metadata['org_id'] === orgId);

/** Returns a payer whose first month could not be charged. */
async function pastDue(method = 'pm_declined'): Promise<Payer> {
  const payer = paying.newOrg();
  await subscribeWith(paying, payer, method);
  await endPeriod(paying, payer);
  await passUntil(payer, 'past_due');
  expect(await stateOf(paying, payer)).toMatchObject({ status: 'past_due', invoices: [{ status: 'open' }] });
  return payer;
}

/** Runs passes until the invoice of the payer is paid. */
async function passUntilPaid(payer: Payer): Promise<void> {
  await until(async () => {
    await paying.pass();
    return (await stateOf(paying, payer)).invoices[0]?.status === 'paid';
  });
}

/**
 * Runs passes until the subscription has this status. A single pass can fail to find an invoice that the service's own
 * worker has claimed.
 */
async function passUntil(payer: Payer, status: string): Promise<void> {
  await until(async () => {
    await paying.pass();
    return (await stateOf(paying, payer)).status === status;
  });
}

/** Pays an open invoice on the page of the provider. The provider does not report it yet. */
async function finishPage(payer: Payer, method = 'pm_ok') {
  const invoice_id = await lastInvoiceId(paying, payer);
  const client = await payer.client();
  await client.startCheckout({ params: payer.params, body: { purpose: 'invoice', invoice_id } });
  const session = paying.stripe.finishCheckout(lastSession(paying.stripe), method);
  const payment = session.payment_intent as { id: string }; // sessions in this mode have one
  const report = (type: string, object: object) =>
    paying.deliver(paying.stripe.event(type, object, { now: paying.now() }));
  return {
    id: payment.id,
    reportPage: () => report('checkout.session.completed', session),
    reportPayment: () => report('payment_intent.succeeded', payment),
  };
}

async function payOnPage(payer: Payer): Promise<string> {
  const page = await finishPage(payer);
  await page.reportPayment();
  await page.reportPage();
  return page.id;
}

describe('a refused charge', () => {
  it('is repeated on schedule; after 14 days an event is sent and no new run starts until a payment', async () => {
    const payer = await pastDue();
    const invoiceId = await lastInvoiceId(paying, payer);
    const { reader } = paying.site.gateway.context.database;
    const attempts = async () => {
      const { attempts: count, failureCode } = await reader.collection.findFirstOrThrow({ where: { invoiceId } });
      return [count, failureCode];
    };
    expect(await attempts()).toEqual([1, 'insufficient_funds']);
    await paying.pass();
    expect(await attempts()).toEqual([1, 'insufficient_funds']);
    for (const [days, count] of [
      [1, 2],
      [3, 3],
      [5, 4],
    ] as const) {
      addDays(paying, days);
      await paying.pass();
      expect(await attempts()).toEqual([count, 'insufficient_funds']);
      expect(await stateOf(paying, payer)).toMatchObject({ status: 'past_due' });
    }
    expect((await announcedRuns(paying, payer)).at(-1)).toBe(10);
    addDays(paying, 5);
    await paying.pass();
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'unpaid' });
    expect((await announcedRuns(paying, payer)).at(-1)).toBe(0);
    expect(await attempts()).toEqual([5, 'insufficient_funds']);
    await payOnPage(payer);
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'active', cashMinor: monthMinor, sumMinor: 0n });
    expect((await announcedRuns(paying, payer)).at(-1)).toBe(10);
    expect(chargesOf(payer)).toBe(1);
  });

  it('also makes a new subscription past due, so canceling and subscribing again avoids no consequence', async () => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_declined');
    addDays(paying, 27);
    const client = await payer.client();
    // The invoice of the cancellation stays a draft until the next pass.
    await client.putSubscription({ params: payer.params, body: { plan: null } });
    await client.putSubscription({ params: payer.params, body: { plan: team } });
    await passUntil(payer, 'past_due');
    addDays(paying, 14);
    await passUntil(payer, 'unpaid');
    expect((await announcedRuns(paying, payer)).at(-1)).toBe(0);
    await payOnPage(payer);
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'active', sumMinor: 0n });
  });

  it('is a failed payment, not an error, when the payment method is missing or needs the payer', async () => {
    const payer = await pastDue('pm_authentication');
    const client = await payer.client();
    const { body } = await client.getBillingAccount({ params: payer.params });
    expect(body).toMatchObject({ subscription: { status: 'past_due' }, open_invoices: [{ status: 'open' }] });
  });

  it('on the page of a checkout is not recorded, because the payer can repeat it', async () => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_slow');
    await endPeriod(paying, payer);
    await paying.pass();
    const { reader } = paying.site.gateway.context.database;
    const invoiceId = await lastInvoiceId(paying, payer);
    const [own] = [...paying.stripe.intents.values()].filter(({ metadata }) => metadata['invoice_id'] === invoiceId);
    if (own === undefined) throw new Error('There is no payment');
    const onPage = {
      ...own,
      id: `pi_page_${payer.orgId}`,
      status: 'requires_payment_method',
      last_payment_error: { code: 'card_declined' },
    };
    paying.stripe.intents.set(onPage.id, onPage);
    const refused = (object: object) =>
      paying.stripe.event('payment_intent.payment_failed', object, { now: paying.now() });
    expect(await paying.deliver(refused(onPage))).toEqual({ status: 200, applied: false });
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'active' });
    // A charge of this service was in processing and is refused later.
    paying.stripe.settle(own.id, false);
    expect(await paying.deliver(refused(own))).toEqual({ status: 200, applied: true });
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'past_due' });
    expect(await reader.collection.findFirstOrThrow({ where: { invoiceId } })).toMatchObject({ attempts: 1 });
  });
});

describe('a payment on the page of a checkout', () => {
  it.each(['pm_ok', 'pm_slow'])('is the only payment of its invoice in any order of events: %s', async (method) => {
    const payer = await pastDue();
    const page = await finishPage(payer, method);
    expect(await page.reportPage()).toEqual({ status: 200, applied: true });
    await paying.pass();
    addDays(paying, 1);
    await paying.pass();
    if (method === 'pm_slow') paying.stripe.settle(page.id, true);
    await page.reportPayment();
    await paying.pass();
    expect(chargesOf(payer)).toBe(1);
    expect(await stateOf(paying, payer)).toMatchObject({
      ...{ status: 'active', cashMinor: monthMinor, sumMinor: 0n },
      invoices: [{ status: 'paid', paidMinor: monthMinor }],
    });
  });
});

describe('a payment or refund', () => {
  it('becomes a credit for the next invoice when it is the second payment of an invoice', async () => {
    const payer = await pastDue();
    const invoiceId = await lastInvoiceId(paying, payer);
    const { reader } = paying.site.gateway.context.database;
    const { reference } = await reader.collection.findFirstOrThrow({ where: { invoiceId } });
    await payOnPage(payer);
    // The payer has paid on the page. Now the refused payment of the worker succeeds as well.
    paying.stripe.settle(reference ?? '', true);
    const event = () => paying.stripe.event('payment_intent.succeeded', { id: reference }, { now: paying.now() });
    expect(await paying.deliver(event())).toMatchObject({ applied: true });
    await paying.deliver(event());
    const grants = await reader.creditGrant.findMany({ where: { orgId: payer.orgId } });
    expect(grants).toMatchObject([{ kind: 'purchased', amountMinor: monthMinor, remainingMinor: monthMinor }]);
    await endPeriod(paying, payer);
    await paying.pass();
    const state = await stateOf(paying, payer);
    expect(state.invoices).toMatchObject([
      { status: 'paid' },
      { status: 'paid', creditedMinor: monthMinor, paidMinor: 0n },
    ]);
    expect(state).toMatchObject({ cashMinor: 2n * monthMinor, sumMinor: 0n });
  });

  it('is posted as returned after a lost dispute, once', async () => {
    const payer = await pastDue();
    const dispute = paying.stripe.dispute(await payOnPage(payer), Number(monthMinor));
    const report = async (type: string) =>
      (await paying.deliver(paying.stripe.event(type, dispute, { now: paying.now() }))).applied;
    expect(await report('charge.dispute.created')).toBe(false);
    dispute.status = 'lost';
    expect(await report('charge.dispute.closed')).toBe(true);
    await report('charge.dispute.funds_withdrawn');
    const state = await stateOf(paying, payer);
    expect(state).toMatchObject({ cashMinor: 0n, sumMinor: 0n, invoices: [{ refundedMinor: monthMinor }] });
  });

  it('is posted when the event of the refund arrives before the event of the payment', async () => {
    const payer = await pastDue();
    const page = await finishPage(payer);
    const refund = paying.stripe.refundOnPage(page.id, 831);
    const deliver = () => paying.deliver(paying.stripe.event('refund.created', refund, { now: paying.now() }));
    expect(await deliver()).toMatchObject({ applied: true });
    await Promise.all([page.reportPayment(), page.reportPage(), deliver()]);
    const state = await stateOf(paying, payer);
    expect(state.invoices).toMatchObject([{ status: 'paid', paidMinor: monthMinor, refundedMinor: 831n }]);
    expect(state).toMatchObject({ status: 'active', cashMinor: monthMinor - 831n, sumMinor: 0n });
  });

  it('is refunded once when the bank takes days', async () => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_ok');
    await endPeriod(paying, payer);
    await passUntilPaid(payer);
    const params = { org_id: payer.orgId, invoice_id: await lastInvoiceId(paying, payer) };
    const body = { amount_minor: 1_000, currency: 'EUR', reference: 'slow' };
    await (await paying.site.as(operator)).refundInvoice({ params, body });
    paying.stripe.slowRefunds = true;
    await paying.pass();
    paying.stripe.slowRefunds = false;
    for (const refund of refundsOf(payer)) refund.status = 'succeeded';
    paying.stripe.forgetIdempotencyKeys();
    addDays(paying, 2);
    await paying.pass();
    expect(refundsOf(payer)).toHaveLength(1);
    expect((await stateOf(paying, payer)).invoices).toMatchObject([{ refundedMinor: 1_000n }]);
  });

  it('is deducted from the credit, then from the invoice, when the provider returns it, and the rest is audited', async () => {
    const payer = await pastDue();
    const invoiceId = await lastInvoiceId(paying, payer);
    await payOnPage(payer);
    const { reader } = paying.site.gateway.context.database;
    const { reference } = await reader.collection.findFirstOrThrow({ where: { invoiceId } });
    // The provider reports a second payment of the invoice.
    const second = { ...paying.stripe.intents.get(reference ?? ''), id: `pi_second_${payer.orgId}` } as Intent;
    paying.stripe.intents.set(second.id, second);
    const at = { now: paying.now() };
    await paying.deliver(paying.stripe.event('payment_intent.succeeded', { id: second.id }, at));
    const returned = async (amount: number) => {
      const refund = paying.stripe.refundOnPage(second.id, amount);
      for (const type of ['refund.created', 'refund.updated'])
        expect(await paying.deliver(paying.stripe.event(type, refund, at))).toMatchObject({ status: 200 });
      const [grant] = await reader.creditGrant.findMany({ where: { orgId: payer.orgId } });
      const { invoices, cashMinor, sumMinor } = await stateOf(paying, payer);
      return { left: grant?.remainingMinor, refunded: invoices[0]?.refundedMinor, cashMinor, sumMinor };
    };
    expect(await returned(831)).toEqual({ left: 5_000n, refunded: 0n, cashMinor: 11_662n - 831n, sumMinor: 0n });
    second.amount_received = 20_000;
    expect(await returned(6_000)).toEqual({ left: 0n, refunded: 1_000n, cashMinor: 11_662n - 6_831n, sumMinor: 0n });
    expect(await returned(5_000)).toMatchObject({ left: 0n, refunded: monthMinor, cashMinor: 0n, sumMinor: 0n });
    const unmatched = await reader.auditEntry.findMany({ where: { scope: payer.orgId, action: 'refund.unmatched' } });
    expect(unmatched).toMatchObject([{ subject: invoiceId, details: expect.stringContaining('169') }]);
  });

  it('is refunded once, by an administrator or at the provider, and never above the paid amount', async () => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_ok');
    await endPeriod(paying, payer);
    await paying.pass();
    const params = { org_id: payer.orgId, invoice_id: await lastInvoiceId(paying, payer) };
    const refund = async (amount_minor: number, reference: string) => {
      const admin = await paying.site.as(operator);
      return admin.refundInvoice({ params, body: { amount_minor, currency: 'EUR', reference } });
    };
    expect((await refund(1_000, 'r1')).body).toMatchObject({ status: 'pending', provider: 'stripe' });
    paying.stripe.failNext(/POST .*refunds$/, 'error_after', payer.orgId);
    expect(await paying.pass()).toBe(false);
    addDays(paying, 0.01);
    expect(await paying.pass()).toBe(true);
    expect((await refund(1_000, 'r1')).body).toMatchObject({ status: 'succeeded', failure_code: null });
    await expect(refund(999, 'r1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    await expect(refund(4_832, 'r2')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const [made, ...others] = refundsOf(payer);
    expect(others).toEqual([]);
    const onPage = paying.stripe.refundOnPage(made?.payment_intent ?? '', 831);
    for (const object of [onPage, made ?? {}, onPage])
      await paying.deliver(paying.stripe.event('refund.updated', object, { now: paying.now() }));
    const state = await stateOf(paying, payer);
    expect(state.invoices).toMatchObject([{ refundedMinor: 1_831n }]);
    expect(state).toMatchObject({ cashMinor: monthMinor - 1_831n, sumMinor: 0n });
    // A refund that the provider refuses fails. A request with the same reference returns this result.
    paying.stripe.refundOnPage(made?.payment_intent ?? '', 4_000);
    await refund(3_000, 'r3');
    await paying.pass();
    expect((await refund(3_000, 'r3')).body).toMatchObject({
      status: 'failed',
      failure_code: 'charge_already_refunded',
    });
  });
});
