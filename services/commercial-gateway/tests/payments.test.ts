import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Fault } from './_stripe.ts';
import {
  endLease,
  endPeriod,
  lastInvoiceId,
  lastSession,
  startPaying,
  stateOf,
  subscribeWith,
  team,
  type Payer,
  type Paying,
} from './_payments.ts';

let paying: Paying;
beforeAll(async () => {
  paying = await startPaying();
});
afterAll(() => paying?.stop());

/** Price of one month of the plan team: 49.00 EUR and 19 % tax. */
const monthMinor = 5_831n;

const paymentOf = (payer: Payer) =>
  [...paying.stripe.intents.values()].filter(({ metadata }) => metadata['org_id'] === payer.orgId);
const chargesOf = (payer: Payer) => {
  const ids = paymentOf(payer).map(({ id }) => id);
  return paying.stripe.charged.filter(({ intent }) => ids.includes(intent)).map(({ amount }) => BigInt(amount));
};

describe('an invoice', () => {
  verifies(
    'cg.stripe',
    'is charged once at Stripe with the payment method of the checkout, and is paid in the ledger',
    async () => {
      const payer = paying.newOrg();
      const client = await payer.client();
      const { body } = await client.startCheckout({
        params: payer.params,
        body: { purpose: 'subscription', plan: team },
      });
      expect(body).toMatchObject({
        provider: 'stripe',
        url: expect.stringMatching(/^https:\/\/checkout\.stripe\.test\//),
      });
      expect(await stateOf(paying, payer)).toMatchObject({ status: 'incomplete' });
      const session = paying.stripe.finishCheckout(lastSession(paying.stripe), 'pm_ok');
      expect(session).toMatchObject({ mode: 'setup', client_reference_id: body.checkout_id });
      const done = paying.stripe.event('checkout.session.completed', session, { now: paying.now() });
      expect(await paying.deliver(done)).toEqual({ status: 200, applied: true });
      expect(await stateOf(paying, payer)).toMatchObject({ status: 'active', invoices: [] });
      await endPeriod(paying, payer);
      expect(await paying.pass()).toBe(true);
      const paid = await stateOf(paying, payer);
      expect(paid).toMatchObject({ status: 'active', cashMinor: monthMinor, sumMinor: 0n });
      expect(paid.invoices).toMatchObject([{ status: 'paid', paidMinor: monthMinor }]);
      expect(chargesOf(payer)).toEqual([monthMinor]);
      expect(await paying.pass()).toBe(true);
      expect(await stateOf(paying, payer)).toEqual(paid);
      const { body: page } = await (await payer.client()).listLedger({ params: payer.params, query: {} });
      expect(page.data.map(({ kind, reference }) => [kind, reference.split('_')[0]])).toEqual([
        ['payment', 'stripe:pi'],
        ['charge', 'ivc'],
      ]);
    },
  );

  it.each<[string, RegExp, Fault]>([
    ['429 when the payment is created', /POST .*payment_intents$/, 'rate_limit'],
    ['500 when the payment is created, replayed by the idempotency key', /POST .*payment_intents$/, 'error'],
    ['500 after the payment was created', /POST .*payment_intents$/, 'error_after'],
    ['no answer after the payment was created', /POST .*payment_intents$/, 'drop_after'],
    ['429 when the payment is charged', /confirm$/, 'rate_limit'],
    ['500 when the payment is charged', /confirm$/, 'error'],
    ['500 after the payment was charged', /confirm$/, 'error_after'],
    ['no answer after the payment was charged', /confirm$/, 'drop_after'],
  ])('is charged once when Stripe returns %s', async (_what, path, fault) => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_ok');
    await endPeriod(paying, payer);
    // The SDK itself repeats a lost request once.
    for (let times = 0; times < (fault.startsWith('drop') ? 2 : 1); times += 1)
      paying.stripe.failNext(path, fault, payer.orgId);
    expect(await paying.pass()).toBe(false);
    expect((await stateOf(paying, payer)).invoices).toMatchObject([{ status: 'open', paidMinor: 0n }]);
    endLease(paying);
    if (fault === 'error') paying.stripe.forgetIdempotencyKeys();
    expect(await paying.pass()).toBe(true);
    expect(chargesOf(payer)).toEqual([monthMinor]);
    expect(await stateOf(paying, payer)).toMatchObject({ status: 'active', cashMinor: monthMinor, sumMinor: 0n });
  });
});

describe('a webhook', () => {
  verifies(
    'cg.stripe',
    'changes nothing with a wrong, stale or reused signature, and is applied once when repeated or late',
    async () => {
      const payer = paying.newOrg();
      await subscribeWith(paying, payer, 'pm_slow');
      await endPeriod(paying, payer);
      await paying.pass();
      const [payment] = paymentOf(payer);
      if (payment === undefined) throw new Error('There is no payment');
      paying.stripe.settle(payment.id, true);
      const at = { now: paying.now() };
      const open = await stateOf(paying, payer);
      expect(open).toMatchObject({ cashMinor: 0n, invoices: [{ status: 'open' }] });
      const { stripe } = paying;
      const event = stripe.event('payment_intent.succeeded', payment, at);
      const refused = [
        stripe.event('payment_intent.succeeded', payment, { ...at, secret: 'whsec_of_another_account' }),
        stripe.event('payment_intent.succeeded', payment, { ...at, age: 301 }),
        stripe.event('payment_intent.succeeded', payment, { ...at, age: -301 }),
        { ...event, body: event.body.replace(payment.id, 'pi_other') },
        { ...event, header: '' },
      ];
      for (const one of refused) expect(await paying.deliver(one)).toEqual({ status: 401 });
      expect(await paying.deliver(event, 'paypal')).toEqual({ status: 404 });
      expect(await paying.deliver(event, 'manual')).toEqual({ status: 401 });
      expect(await stateOf(paying, payer)).toEqual(open);

      const both = await Promise.all([paying.deliver(event), paying.deliver(event)]);
      expect(both.map(({ applied }) => applied).toSorted()).toEqual([false, true]);
      const paid = await stateOf(paying, payer);
      expect(paid).toMatchObject({ status: 'active', cashMinor: monthMinor, invoices: [{ status: 'paid' }] });
      expect(await paying.deliver(event)).toEqual({ status: 200, applied: false });
      // Older and other events of the same payment arrive later. For each of them, this service fetches the payment,
      // which is already posted.
      for (const type of ['payment_intent.processing', 'payment_intent.payment_failed', 'payment_intent.succeeded'])
        await paying.deliver(stripe.event(type, { ...payment, status: 'requires_payment_method' }, at));
      expect(await stateOf(paying, payer)).toEqual(paid);
    },
  );

  it('about an unknown payment, customer or checkout changes nothing', async () => {
    const payer = paying.newOrg();
    const before = await stateOf(paying, payer);
    const { stripe } = paying;
    const at = { now: paying.now() };
    expect(await paying.deliver(stripe.event('payment_intent.succeeded', { id: 'pi_of_nobody' }, at))).toEqual({
      status: 503,
    });
    expect(await paying.deliver(stripe.event('customer.created', { id: 'cus_of_nobody' }, at))).toMatchObject({
      applied: false,
    });
    expect(await paying.deliver(stripe.event('balance.available', {}, at))).toMatchObject({ applied: false });
    const foreign = {
      amount: 100,
      amount_received: 100,
      currency: 'eur',
      payment_method: null,
      last_payment_error: null,
    };
    stripe.intents.set('pi_foreign', {
      ...{ ...foreign, id: 'pi_foreign', customer: 'cus_foreign', status: 'succeeded' },
      metadata: { invoice_id: `ivc_${'1'.repeat(26)}` },
    });
    expect(await paying.deliver(stripe.event('payment_intent.succeeded', { id: 'pi_foreign' }, at))).toMatchObject({
      applied: false,
    });
    expect(await stateOf(paying, payer)).toEqual(before);
  });

  it('about another organisation cannot complete a checkout', async () => {
    const [payer, second] = [paying.newOrg(), paying.newOrg()];
    for (const one of [payer, second])
      await (await one.client()).startCheckout({ params: one.params, body: { purpose: 'subscription', plan: team } });
    const [, theirs] = [...paying.stripe.sessions.values()].slice(-2);
    if (theirs === undefined) throw new Error('There is no session');
    const [mine] = [...paying.stripe.sessions.values()].slice(-2);
    const session = paying.stripe.finishCheckout(theirs.id, 'pm_ok');
    session.client_reference_id = mine?.client_reference_id ?? '';
    const event = paying.stripe.event('checkout.session.completed', session, { now: paying.now() });
    expect(await paying.deliver(event)).toEqual({ status: 200, applied: false });
    for (const one of [payer, second]) expect(await stateOf(paying, one)).toMatchObject({ status: 'incomplete' });
  });
});

describe('a checkout', () => {
  it('is started once per Idempotency-Key', async () => {
    const payer = paying.newOrg();
    const client = await payer.client();
    const before = paying.stripe.sessions.size;
    const start = (key: string, plan = team) =>
      client.startCheckout({
        ...{ params: payer.params, headers: { 'idempotency-key': key } },
        body: { purpose: 'subscription', plan },
      });
    const [first, replay] = [await start('key-1'), await start('key-1')];
    expect(replay.body).toEqual(first.body);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(paying.stripe.sessions.size).toBe(before + 1);
    await expect(start('key-1', { ...team, plan_version: 2 })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    paying.stripe.failNext(/sessions$/, 'rate_limit', payer.orgId);
    await expect(start('key-2')).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_UNAVAILABLE' });
    expect((await start('key-2')).status).toBe(201);
  });

  it('cannot change the plan of a billed subscription, and is refused for a paid invoice', async () => {
    const payer = paying.newOrg();
    await subscribeWith(paying, payer, 'pm_ok');
    const client = await payer.client();
    // A checkout for the current plan only stores another payment method.
    const body = { purpose: 'subscription', plan: team } as const;
    expect((await client.startCheckout({ params: payer.params, body })).status).toBe(201);
    await endPeriod(paying, payer);
    await paying.pass();
    const invoice_id = await lastInvoiceId(paying, payer);
    const late = await payer.client();
    const pay = late.startCheckout({ params: payer.params, body: { purpose: 'invoice', invoice_id } });
    await expect(pay).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });
});
