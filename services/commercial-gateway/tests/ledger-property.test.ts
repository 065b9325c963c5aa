import { afterAll, beforeAll, expect } from '@jest/globals';
import { isAppError, type InvoiceId } from '@countersign/contracts';
import { isUnavailable } from '@countersign/database';
import { verifies } from '@countersign/testkit/verifies';
import fc from 'fast-check';
import { inBillingAccount, type BillingCaller } from '../src/billing-deps.ts';
import { expireCredits } from '../src/invoicing/expire-credits.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { grantCredit } from '../src/invoicing/grant-credit.ts';
import { receivePaymentIn } from '../src/invoicing/receive-payment.ts';
import { receiveRefundIn } from '../src/invoicing/receive-refund.ts';
import { recordPayment } from '../src/invoicing/record-payment.ts';
import { recordRefund } from '../src/invoicing/record-refund.ts';
import { voidInvoice } from '../src/invoicing/void-invoice.ts';
import { writeOffInvoice } from '../src/invoicing/write-off-invoice.ts';
import { closeMonths, findUnsound, newCaller, openBilling, subscribe, type Billing } from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

const months = 4;
const amounts = fc.bigInt(1n, 1_300n);
const months$ = fc.nat(months - 1);

/** One operation on the money of an organisation, or the kill of a connection. */
const acts = fc.oneof(
  fc.record({ kind: fc.constant('charge' as const), month: months$ }),
  fc.record({ kind: fc.constant('pay' as const), month: months$, amountMinor: amounts, reference: fc.nat(5) }),
  fc.record({ kind: fc.constant('refund' as const), month: months$, amountMinor: amounts, reference: fc.nat(5) }),
  fc.record({ kind: fc.constant('receive' as const), month: months$, amountMinor: amounts, reference: fc.nat(5) }),
  fc.record({ kind: fc.constant('return' as const), month: months$, amountMinor: amounts, reference: fc.nat(5) }),
  fc.record({ kind: fc.constant('credit' as const), amountMinor: amounts, reference: fc.nat(5) }),
  fc.record({ kind: fc.constant('expire' as const) }),
  fc.record({ kind: fc.constant('void' as const), month: months$ }),
  fc.record({ kind: fc.constant('write_off' as const), month: months$ }),
  fc.record({ kind: fc.constant('kill' as const) }),
);
type Act = typeof acts extends fc.Arbitrary<infer Value> ? Value : never;

async function run(act: Act, caller: BillingCaller, ids: readonly InvoiceId[]): Promise<unknown> {
  const { deps } = billing;
  const invoiceId = 'month' in act ? ids[act.month] : undefined;
  const cash = (prefix: string) =>
    'amountMinor' in act
      ? { amountMinor: act.amountMinor, currency: 'EUR', reference: `${prefix}${act.reference}` }
      : null;
  switch (act.kind) {
    case 'kill':
      return await killOne();
    case 'expire':
      return await expireCredits(deps, caller);
    case 'credit': {
      const terms = { kind: 'promotional', expiresAt: null, reason: 'test' } as const;
      return await grantCredit(deps, { ...terms, ...required(cash('c')) }, caller);
    }
    case 'charge':
      return await finalizeInvoice(deps, required(invoiceId), caller);
    case 'pay':
      return await recordPayment(deps, { invoiceId: required(invoiceId), ...required(cash('p')) }, caller);
    case 'refund':
      return await recordRefund(deps, { invoiceId: required(invoiceId), ...required(cash('r')) }, caller);
    case 'receive':
    case 'return': {
      const received = { invoiceId: required(invoiceId), ...required(cash('provider')) };
      return await fromProvider(act.kind, received, caller);
    }
    case 'void':
      return await voidInvoice(deps, required(invoiceId), caller);
    case 'write_off':
      return await writeOffInvoice(deps, required(invoiceId), caller);
    default:
      return act satisfies never;
  }
}

/** Posts a payment or a refund of a payment provider. A refund has the number of its payment. */
function fromProvider(
  kind: 'receive' | 'return',
  cash: Omit<Parameters<typeof receivePaymentIn>[2], 'at'>,
  caller: BillingCaller,
): Promise<void> {
  const { deps } = billing;
  return inBillingAccount(deps, caller.orgId, (tx, at) =>
    kind === 'receive'
      ? receivePaymentIn(tx, deps, { ...cash, at }, caller)
      : receiveRefundIn(tx, deps, { ...cash, paymentReference: cash.reference, at }, caller),
  );
}

function required<Value>(value: Value | undefined | null): Value {
  if (value === undefined || value === null) throw new Error('The act has no such member');
  return value;
}

/** Kills one connection of the service during any statement. */
async function killOne(): Promise<void> {
  const { admin, scratch } = billing;
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = $1 AND state <> 'idle' ORDER BY random() LIMIT 1`,
    [scratch.role],
  );
}

async function entriesOf({ orgId }: BillingCaller): Promise<string[]> {
  const { rows } = await billing.admin.query<{ entry: string }>(
    `SELECT to_jsonb(e)::text || to_jsonb(t)::text AS entry
       FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id WHERE e.org_id = $1`,
    [orgId],
  );
  return rows.map(({ entry }) => entry);
}

verifies(
  'cg.ledger',
  'concurrent charges, credits, payments, refunds, voids and kills leave every transaction balanced and change no entry',
  async () => {
    const batches = fc.array(fc.array(acts, { minLength: 6, maxLength: 14 }), { minLength: 2, maxLength: 3 });
    let killed = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (rounds) => {
        const caller = newCaller();
        await subscribe(billing, caller);
        const ids = (await closeMonths(billing, caller, { months, taxPercent: '19' })).map(({ id }) => id);
        let before: string[] = [];
        for (const round of rounds) {
          const ends = await Promise.allSettled(round.map((act) => run(act, caller, ids)));
          const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
          expect(failures.filter((error) => !isAppError(error) && !isUnavailable(error))).toEqual([]);
          killed += failures.filter(isUnavailable).length;
          expect(await findUnsound(billing, caller)).toEqual([]);
          const after = await entriesOf(caller);
          expect(after).toEqual(expect.arrayContaining(before));
          before = after;
        }
      }),
      { numRuns: 8 },
    );
    expect(killed).toBeGreaterThan(0);
  },
);
