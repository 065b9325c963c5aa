import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import {
  addDays,
  announcedRuns,
  endPeriod,
  lastInvoiceId,
  manualSecret,
  startPaying,
  stateOf,
  team,
  type Paying,
} from './_payments.ts';

const monthMinor = 5_831n;

describe('without a payment provider', () => {
  let manual: Paying;
  beforeAll(async () => {
    manual = await startPaying({ hasStripe: false });
  });
  afterAll(() => manual?.stop());

  const eventOf = (data: object, id: string, type = 'payment.received') => {
    const body = JSON.stringify({ id, type, data });
    const timestamp = Math.floor(manual.now().getTime() / 1_000);
    const digest = createHmac('sha256', manualSecret).update(`${timestamp}.${body}`).digest('hex');
    return { body, header: `t=${timestamp},v1=${digest}` };
  };

  verifies(
    'cg.ledger',
    'a reported transfer pays an invoice once; without a transfer the invoice is past due after 14 days',
    async () => {
      const payer = manual.newOrg();
      const client = await payer.client();
      await client.putSubscription({ params: payer.params, body: { plan: team } });
      const checkout = client.startCheckout({ params: payer.params, body: { purpose: 'subscription', plan: team } });
      await expect(checkout).rejects.toMatchObject({ code: 'GATE_NOT_PASSED' });
      await endPeriod(manual, payer);
      await manual.pass();
      expect(await stateOf(manual, payer)).toMatchObject({ status: 'active', invoices: [{ status: 'open' }] });
      addDays(manual, 14);
      await manual.pass();
      expect(await stateOf(manual, payer)).toMatchObject({ status: 'past_due' });
      addDays(manual, 14);
      await manual.pass();
      expect(await stateOf(manual, payer)).toMatchObject({ status: 'unpaid' });
      expect((await announcedRuns(manual, payer)).at(-1)).toBe(0);
      // The second month has also ended.
      const { reader } = manual.site.gateway.context.database;
      const [first, second] = await reader.invoice.findMany({ where: { orgId: payer.orgId }, orderBy: { id: 'asc' } });
      const data = {
        tenant_id: payer.orgId,
        invoice_id: first?.id,
        amount_minor: Number(monthMinor),
        currency: 'EUR',
        reference: 't1',
      };
      const stranger = eventOf({ ...data, tenant_id: manual.newOrg().orgId }, 'e0');
      expect(await manual.deliver(stranger, 'manual')).toEqual({ status: 200, applied: false });
      expect(await manual.deliver(eventOf(data, 'e1'), 'manual')).toEqual({ status: 200, applied: true });
      expect(await manual.deliver(eventOf(data, 'e1'), 'manual')).toEqual({ status: 200, applied: false });
      await manual.deliver(eventOf(data, 'e2'), 'manual');
      expect(await stateOf(manual, payer)).toMatchObject({ status: 'unpaid', cashMinor: monthMinor, sumMinor: 0n });
      await manual.deliver(eventOf({ ...data, invoice_id: second?.id, reference: 't2' }, 'e3'), 'manual');
      expect(await stateOf(manual, payer)).toMatchObject({
        status: 'active',
        cashMinor: 2n * monthMinor,
        sumMinor: 0n,
      });
      expect(await manual.deliver(manual.stripe.event('payment_intent.succeeded', {}, { now: manual.now() }))).toEqual({
        status: 404,
      });
    },
  );

  it('a returned part of a payment is owed again on an open invoice', async () => {
    const payer = manual.newOrg();
    const client = await payer.client();
    await client.putSubscription({ params: payer.params, body: { plan: team } });
    addDays(manual, 1);
    await (await payer.client()).putSubscription({ params: payer.params, body: { plan: null } });
    await until(async () => {
      await manual.pass();
      return (await stateOf(manual, payer)).invoices[0]?.status === 'open';
    });
    // The price of one of 31 days at 4,900.
    const totalMinor = 158;
    const of = { tenant_id: payer.orgId, invoice_id: await lastInvoiceId(manual, payer), currency: 'EUR' };
    const move = async (name: string, amount_minor: number, type: string) => {
      const id = `${payer.orgId}-${name}`;
      const { status } = await manual.deliver(eventOf({ ...of, amount_minor, reference: id }, id, type), 'manual');
      expect(status).toBe(200);
    };
    await move('part', 100, 'payment.received');
    await move('back', 60, 'refund.sent');
    await move('back', 60, 'refund.sent');
    const owed = await stateOf(manual, payer);
    expect(owed.invoices).toMatchObject([{ status: 'open', paidMinor: 40n, refundedMinor: 0n }]);
    expect(owed).toMatchObject({ cashMinor: 40n, sumMinor: 0n });
    await move('rest', totalMinor - 40, 'payment.received');
    const paid = await stateOf(manual, payer);
    expect(paid.invoices).toMatchObject([{ status: 'paid', paidMinor: 158n }]);
    expect(paid).toMatchObject({ cashMinor: 158n, sumMinor: 0n });
  });
});
