import { inBillingAccount } from '../billing-deps.ts';
import { recordRefundIn } from '../invoicing/record-refund.ts';
import { endRefund, type StoredRefund } from '../store/refunds.ts';
import { providerActor, type PaymentDeps } from './payment-deps.ts';
import { readAgainAt } from './processing-time.ts';
import { ledgerReferenceOf } from './provider-reference.ts';

/**
 * Refunds a payment at its provider and posts the result. A repeated call refunds only once, because the provider
 * recognises the reference.
 */
export async function finishRefund(deps: PaymentDeps, refund: StoredRefund): Promise<void> {
  const { orgId, invoiceId, paymentReference, amountMinor, currency, reference } = refund;
  const provider = deps.payments.byName[refund.provider];
  if (provider === undefined) throw new Error(`The payment provider ${refund.provider} is not configured`);
  const request = { orgId, invoiceId, paymentReference, amountMinor, currency, reference };
  const outcome = await provider.refund(request);
  const caller = { orgId, actor: providerActor(provider), requestId: null };
  await inBillingAccount(deps, orgId, async (tx, at) => {
    switch (outcome.kind) {
      case 'succeeded': {
        const posted = ledgerReferenceOf(provider.name, outcome.reference);
        await recordRefundIn(tx, deps, { invoiceId, amountMinor, currency, reference: posted, at }, caller);
        return await endRefund(tx, refund, { status: 'succeeded', failureCode: null, nextAt: null });
      }
      case 'processing':
        return await endRefund(tx, refund, { status: 'pending', failureCode: null, nextAt: readAgainAt(at) });
      case 'refused':
        return await endRefund(tx, refund, { status: 'failed', failureCode: outcome.code.slice(0, 128), nextAt: null });
      default:
        return outcome satisfies never;
    }
  });
}
