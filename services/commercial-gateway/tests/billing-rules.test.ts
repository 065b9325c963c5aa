import { describe, expect, it } from '@jest/globals';
import { SubscriptionStatus } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { allocateCredits } from '../src/billing/allocate-credits.ts';
import { assembleInvoice } from '../src/billing/assemble-invoice.ts';
import { nextInvoiceStatus } from '../src/billing/invoice-status.ts';
import {
  assertBalanced,
  chargeEntries,
  creditApplicationEntries,
  creditExpiryEntries,
  creditGrantEntries,
  paymentEntries,
  refundEntries,
  reversalEntries,
  writeOffEntries,
  type LedgerEntry,
} from '../src/billing/ledger-entries.ts';
import { monthlyPeriod } from '../src/billing/period.ts';
import { planCatalog } from '../src/billing/plan-catalog.ts';
import { rateUsage } from '../src/billing/rate-usage.ts';
import {
  isGraceOver,
  nextSubscriptionStatus,
  permitsOperation,
  unlimitedOperations,
} from '../src/billing/subscription-status.ts';

const now = new Date('2026-06-01');
const dayMs = 86_400_000;

const grants = fc.array(
  fc.record({
    currency: fc.constantFrom('EUR', 'JPY'),
    remainingMinor: fc.bigInt(0n, 1_000n),
    expiresAt: fc.option(fc.integer({ min: -3, max: 3 }).map((days) => new Date(now.getTime() + days * dayMs))),
    createdAt: fc.integer({ min: -9, max: -1 }).map((days) => new Date(now.getTime() + days * dayMs)),
  }),
  { maxLength: 8 },
);
const withIds = grants.map((list) => list.map((grant, index) => ({ id: `crg_${index}`, ...grant })));

describe('credit allocation', () => {
  it('uses the grant that expires first, and never an expired grant, another currency or more than the remaining amount', () => {
    fc.assert(
      fc.property(withIds, fc.bigInt(0n, 3_000n), (list, amountMinor) => {
        const allocations = allocateCredits(list, { amountMinor, currency: 'EUR', now });
        const usable = list.filter(
          ({ currency, expiresAt }) => currency === 'EUR' && (expiresAt === null || expiresAt > now),
        );
        const available = usable.reduce((sum, { remainingMinor }) => sum + remainingMinor, 0n);
        const spent = allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0n);
        expect(spent).toBe(available < amountMinor ? available : amountMinor);
        for (const { grant, amountMinor: share } of allocations) {
          expect(usable).toContain(grant);
          expect(share > 0n && share <= grant.remainingMinor).toBe(true);
        }
        const last = allocations.at(-1)?.grant;
        const lastTime = last?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
        const earlier = usable.filter(({ expiresAt }) => (expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) < lastTime);
        // A later grant is used only after each earlier one is used up.
        for (const grant of last === undefined ? [] : earlier)
          expect(allocations.find((allocation) => allocation.grant === grant)?.amountMinor ?? 0n).toBe(
            grant.remainingMinor,
          );
      }),
    );
  });

  it('uses the older of two grants that expire at the same time', () => {
    const grant = { currency: 'EUR', remainingMinor: 5n, expiresAt: null };
    const [younger, older] = [
      { ...grant, id: 'crg_1', createdAt: new Date('2026-02-01') },
      { ...grant, id: 'crg_2', createdAt: new Date('2026-01-01') },
    ];
    expect(allocateCredits([younger, older], { amountMinor: 5n, currency: 'EUR', now })).toEqual([
      { grant: older, amountMinor: 5n },
    ]);
  });
});

const invoices = fc.tuple(fc.bigInt(1n, 10n ** 12n), fc.bigInt(0n, 10n ** 11n)).map(([subtotalMinor, taxMinor]) => ({
  ...{ currency: 'KWD', subtotalMinor, taxMinor, totalMinor: subtotalMinor + taxMinor },
}));

const balanceOf = (entries: readonly LedgerEntry[], account: LedgerEntry['account']) =>
  entries.filter((entry) => entry.account === account).reduce((sum, { amountMinor }) => sum + amountMinor, 0n);

describe('ledger entries', () => {
  it('sum to zero in every posting; a full payment and its refund in parts restore revenue, tax and cash', () => {
    fc.assert(
      fc.property(invoices, fc.array(fc.bigInt(1n, 9_999n), { maxLength: 5 }), (invoice, cuts) => {
        const total = invoice.totalMinor;
        const stops = cuts.map((cut) => (cut * total) / 10_000n).toSorted((a, b) => Number(a - b));
        const postings = [chargeEntries(invoice), paymentEntries(invoice.currency, total)];
        let refundedMinor = 0n;
        for (const stop of [...stops, total]) {
          if (stop <= refundedMinor || stop > total) continue;
          postings.push(refundEntries({ ...invoice, refundedMinor }, stop - refundedMinor));
          refundedMinor = stop;
        }
        for (const entries of postings) assertBalanced(entries);
        for (const account of ['revenue', 'tax', 'cash', 'receivable'] as const)
          expect(balanceOf(postings.flat(), account)).toBe(0n);
      }),
    );
  });

  it('close the receivable in a write-off, and cancel a posting in a reversal', () => {
    fc.assert(
      fc.property(invoices, fc.bigInt(0n, 9_999n), (invoice, share) => {
        const settledMinor = (share * invoice.totalMinor) / 10_000n;
        const writeOff = writeOffEntries({ ...invoice, settledMinor });
        const open = [...chargeEntries(invoice), ...paymentEntries(invoice.currency, settledMinor), ...writeOff];
        assertBalanced(writeOff);
        expect(balanceOf(open, 'receivable')).toBe(0n);
        const undone = [...writeOff, ...reversalEntries(writeOff)];
        for (const account of ['revenue', 'tax', 'receivable'] as const) expect(balanceOf(undone, account)).toBe(0n);
      }),
    );
  });

  it('leave no credits after a grant, its use and its expiry', () => {
    const grant = { id: 'crg_1', currency: 'JPY', amountMinor: 100n };
    const used = creditApplicationEntries('JPY', [{ grant, amountMinor: 30n }]);
    const expired = creditExpiryEntries({ ...grant, remainingMinor: 70n });
    for (const kind of ['promotional', 'purchased'] as const) {
      const granted = creditGrantEntries(kind, grant);
      for (const entries of [granted, used, expired]) assertBalanced(entries);
      const all = [...granted, ...used, ...expired];
      expect(balanceOf(all, 'credits')).toBe(0n);
      expect(balanceOf(all, kind === 'purchased' ? 'cash' : 'revenue')).toBe(kind === 'purchased' ? 100n : 30n);
    }
  });

  it('are refused when they sum to zero only across currencies', () => {
    const [debit, credit] = paymentEntries('EUR', 5n);
    if (debit === undefined || credit === undefined) throw new Error('A payment has two entries');
    expect(() => assertBalanced([debit, { ...credit, currency: 'JPY' }])).toThrow('not balanced in EUR, JPY');
    expect(() => assertBalanced([])).toThrow('not balanced');
  });
});

const team = planCatalog[1] ?? planCatalog[0];

describe('invoice assembly', () => {
  const period = monthlyPeriod(new Date('2026-04-01'), 0);

  it('lists the base price and one line per meter, whose sum with tax is the total', () => {
    const quantities = fc.bigInt(0n, 10n ** 14n);
    const usages = fc.record({ tool_calls: quantities, seats: fc.bigInt(0n, 10n ** 8n), decisions: quantities });
    fc.assert(
      fc.property(usages, fc.constantFrom(null, '0', '8.1', '19', '20'), (usage, taxPercent) => {
        if (team === undefined) throw new Error('The catalog has plans');
        const invoice = assembleInvoice(team, { period, span: period, usage, taxPercent });
        const lines = invoice.lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
        expect(invoice.subtotalMinor).toBe(lines);
        expect(lines).toBe(BigInt(team.base_minor) + rateUsage(team, usage, null).totalMinor);
        expect(invoice.totalMinor).toBe(lines + invoice.taxMinor);
        const percent = BigInt(Math.round(Number(taxPercent ?? 0) * 10));
        const error = invoice.taxMinor * 1_000n - lines * percent;
        expect(error >= -500n && error <= 500n).toBe(true);
      }),
    );
  });

  it('rejects a total over the limit', () => {
    if (team === undefined) throw new Error('The catalog has plans');
    const usage = { seats: 10n ** 25n };
    expect(() => assembleInvoice(team, { period, span: period, usage, taxPercent: null })).toThrow('is over');
  });
});

describe('status rules', () => {
  it('an invoice goes from draft to open, and from there to one final status', () => {
    expect(nextInvoiceStatus('draft', 'finalize')).toBe('open');
    expect(nextInvoiceStatus('open', 'settle')).toBe('paid');
    for (const status of ['draft', 'paid', 'void', 'uncollectible'] as const)
      for (const action of ['settle', 'void', 'write_off'] as const)
        expect(() => nextInvoiceStatus(status, action)).toThrow('requires the status open');
  });

  it('a subscription follows incomplete, trialing, active, past_due, unpaid, canceled, and recovers when paid', () => {
    const steps = ['start_trial', 'activate', 'fail_payment', 'settle', 'fail_payment', 'end_grace', 'settle'] as const;
    let status: SubscriptionStatus = 'incomplete';
    const seen = steps.map((action) => (status = nextSubscriptionStatus(status, action)));
    expect(seen).toEqual(['trialing', 'active', 'past_due', 'active', 'past_due', 'unpaid', 'active']);
    expect(() => nextSubscriptionStatus('canceled', 'activate')).toThrow('canceled');
    expect(() => nextSubscriptionStatus('active', 'end_grace')).toThrow('active');
  });

  it('the grace period ends exactly 14 days after the failed payment', () => {
    expect(isGraceOver(new Date(now.getTime() - 14 * dayMs), now)).toBe(true);
    expect(isGraceOver(new Date(now.getTime() - 14 * dayMs + 1), now)).toBe(false);
  });

  it('an unpaid organisation starts no run and loses nothing else', () => {
    expect(SubscriptionStatus.options.filter((status) => permitsOperation(status, 'start_run'))).toEqual([
      'trialing',
      'active',
      'past_due',
    ]);
    for (const status of SubscriptionStatus.options)
      for (const operation of unlimitedOperations) expect(permitsOperation(status, operation)).toBe(true);
  });
});
