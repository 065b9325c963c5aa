import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { currencies, minorDigitsOf } from '@countersign/contracts';
import fc from 'fast-check';
import Stripe from 'stripe';
import { nextChargeAt, transferDueAt } from '../src/billing/collection-schedule.ts';
import { isGraceOver } from '../src/billing/subscription-status.ts';
import { createManualProvider } from '../src/payments/manual-provider.ts';
import { minorOfStripeAmount, stripeAmountOf } from '../src/payments/stripe-amount.ts';
import { verifySignature } from '../src/payments/verify-signature.ts';

const secret = 'whsec_test_secret';
const timestamp = 1_767_225_600;
const now = new Date(timestamp * 1_000);
/** The payload from the tests of Stripe's own libraries. */
const payload = JSON.stringify({ id: 'evt_test_webhook', object: 'event' }, null, 2);
const signature = 'b124066e0fac9cdaa635e5151c55a3ef0be5db34ae646424fdd9848d450ff410';
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

const verify = (header: string | undefined, { body = payload, at = now, key = secret } = {}) =>
  verifySignature({ body: Buffer.from(body), header, secret: key, now: at });

describe('a Stripe signature', () => {
  it('is accepted when it is the HMAC-SHA256 of time, dot and body', () => {
    expect(() => verify(`t=${timestamp},v1=${signature}`)).not.toThrow();
    const { webhooks } = new Stripe('sk_test');
    for (const text of [payload, '{}', '{"name":"Zoë \u{1f600}"}']) {
      const header = webhooks.generateTestHeaderString({ payload: text, secret, timestamp });
      expect(() => verify(header, { body: text })).not.toThrow();
    }
  });

  it('is accepted beside signatures of other secrets and schemes, and for 300 s', () => {
    const second = 'f'.repeat(64);
    expect(() => verify(`t=${timestamp},v1=${second},v1=${signature},v0=${second}`)).not.toThrow();
    for (const seconds of [-300, 300])
      expect(() => verify(`t=${timestamp},v1=${signature}`, { at: later(seconds) })).not.toThrow();
  });

  const header = `t=${timestamp},v1=${signature}`;
  it.each<[string, string | undefined, object]>([
    ['is missing', undefined, {}],
    ['is empty', '', {}],
    ['belongs to another body', header, { body: `${payload} ` }],
    ['was made with another secret', header, { key: 'whsec_other' }],
    ['belongs to another time', `t=${timestamp + 1},v1=${signature}`, {}],
    ['is 301 s old', header, { at: later(301) }],
    ['is 301 s ahead', header, { at: later(-301) }],
    ['has no time', `v1=${signature}`, {}],
    ['has two times', `t=${timestamp},t=${timestamp + 400},v1=${signature}`, {}],
    ['has a time that is not a number', `t=NaN,v1=${signature}`, {}],
    ['has only the scheme v0', `t=${timestamp},v0=${signature}`, {}],
    ['is truncated', `t=${timestamp},v1=${signature.slice(0, 63)}`, {}],
    ['is in upper case', `t=${timestamp},v1=${signature.toUpperCase()}`, {}],
    ['is one of a hundred', `t=${timestamp}${`,v1=${signature}`.repeat(100)}`, {}],
  ])('is refused when it %s', (_why, sent, options) => {
    expect(() => verify(sent, options)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }));
  });
});

describe('amounts at Stripe', () => {
  it.each([
    ['EUR', 1_999n, 1_999],
    ['JPY', 500n, 500],
    ['CLP', 500n, 500],
    ['KWD', 1_230n, 1_230],
    ['KWD', 1_234n, null],
    ['ISK', 500n, 50_000],
    ['UGX', 500n, 50_000],
    ['MGA', 500n, 5],
    ['MGA', 501n, null],
    ['XAU', 1n, null],
    ['EUR', 10n ** 16n, null],
  ])('%s %s', (currency, minor, expected) => {
    expect(stripeAmountOf(minor, currency)).toBe(expected);
  });

  it('convert back to the same minor units', () => {
    const withMinorUnit = [...currencies].filter((code) => minorDigitsOf(code) !== null);
    fc.assert(
      fc.property(fc.constantFrom(...withMinorUnit), fc.bigInt(0n, 10n ** 12n), (currency, minor) => {
        const amount = stripeAmountOf(minor, currency);
        if (amount !== null) expect(minorOfStripeAmount(amount, currency)).toBe(minor);
      }),
    );
  });

  it('are rejected when they are negative, fractional or not whole minor units', () => {
    expect(minorOfStripeAmount(50_050, 'ISK')).toBeNull();
    expect(minorOfStripeAmount(-1, 'EUR')).toBeNull();
    expect(minorOfStripeAmount(0.5, 'EUR')).toBeNull();
  });
});

it('refused charges are repeated until the grace period of 14 days ends', () => {
  let at = now;
  const dates: number[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const next = nextChargeAt(attempts, at);
    if (next === null) break;
    dates.push((next.getTime() - now.getTime()) / 86_400_000);
    at = next;
  }
  expect(dates).toEqual([1, 4, 9, 14]);
  expect(isGraceOver(now, at)).toBe(true);
  expect(transferDueAt(now)).toEqual(later(14 * 86_400));
});

describe('an event of an accounting system', () => {
  const event = {
    ...{ id: 'e1', type: 'payment.received' },
    data: {
      ...{ tenant_id: `org_${'1'.repeat(26)}`, invoice_id: `ivc_${'1'.repeat(26)}`, amount_minor: 100 },
      ...{ currency: 'EUR', reference: 'transfer-1' },
    },
  };
  const parse = (value: object, key: string | null = secret) => {
    const body = Buffer.from(JSON.stringify(value));
    const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
    const headers = { 'countersign-signature': `t=${timestamp},v1=${digest}` };
    return createManualProvider(key).parseEvent({ body, headers, now });
  };

  it('is a payment or a refund of an invoice', async () => {
    expect(await parse(event).read()).toMatchObject({ kind: 'paid', amountMinor: 100n, reference: 'transfer-1' });
    expect(await parse({ ...event, type: 'refund.sent' }).read()).toMatchObject({
      kind: 'refunded',
      amountMinor: 100n,
    });
  });

  it.each<[string, object]>([
    ['a negative amount', { data: { ...event.data, amount_minor: -1 } }],
    ['a fraction', { data: { ...event.data, amount_minor: 0.5 } }],
    ['an unknown type', { type: 'payment.lost' }],
    ['an unknown member', { note: 'x' }],
  ])('is refused with %s', (_why, change) => {
    expect(() => parse({ ...event, ...change })).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });

  it('is answered with NOT_FOUND when no secret is configured', () => {
    expect(() => parse(event, null)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});
