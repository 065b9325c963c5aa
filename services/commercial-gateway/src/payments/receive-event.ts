import { InvoiceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { inBillingAccount, type BillingCaller } from '../billing-deps.ts';
import { receivePaymentIn } from '../invoicing/receive-payment.ts';
import { receiveRefundIn } from '../invoicing/receive-refund.ts';
import { recordRefundIn } from '../invoicing/record-refund.ts';
import { findCollection, updateCollection } from '../store/collections.ts';
import type { Tx } from '../store/database.ts';
import { findInvoice } from '../store/invoices.ts';
import { findOrg } from '../store/orgs.ts';
import { findOrgOfCustomer, setPaymentMethod } from '../store/payment-customers.ts';
import { enterEvent, isKnownEvent } from '../store/payment-events.ts';
import { findRefund } from '../store/refunds.ts';
import { recordRefusalIn } from './collect-invoice.ts';
import { completeCheckoutIn } from './complete-checkout.ts';
import { providerActor, type PaymentDeps } from './payment-deps.ts';
import { ledgerReferenceOf } from './provider-reference.ts';
import type { FactOwner, PaymentFact, PaymentProvider, RefundedPayment, VerifiedEvent } from './payment-provider.ts';

/**
 * Applies a verified event once. Returns false for an event that was applied before, and for one that concerns no
 * organisation here. The applied state is the current one at the provider, so a late event of an old state changes
 * nothing.
 */
export async function receiveEvent(
  deps: PaymentDeps,
  provider: PaymentProvider,
  event: VerifiedEvent,
): Promise<boolean> {
  const { reader } = deps.database;
  if (await isKnownEvent(reader, provider.name, event.id)) return false;
  const fact = await event.read();
  const orgId = fact === null ? null : await orgOf(deps, provider, fact.owner);
  if (fact === null || orgId === null) return false;
  const caller = { orgId, actor: providerActor(provider), requestId: null };
  return await inBillingAccount(deps, orgId, async (tx, at) => {
    if (!(await enterEvent(tx, provider.name, event.id))) return false;
    return await applyIn(tx, deps, { fact, provider, at }, caller);
  });
}

async function orgOf({ database }: PaymentDeps, provider: PaymentProvider, owner: FactOwner): Promise<OrgId | null> {
  if (owner.kind === 'customer')
    return await findOrgOfCustomer(database.reader, { provider: provider.name, customerId: owner.customerId });
  return (await findOrg(database.reader, owner.orgId))?.id ?? null;
}

type Applied = { fact: PaymentFact; provider: PaymentProvider; at: Date };

async function applyIn(
  tx: Tx,
  deps: PaymentDeps,
  { fact, provider, at }: Applied,
  caller: BillingCaller,
): Promise<boolean> {
  const { orgId } = caller;
  if (fact.kind === 'checked_out') return await completeCheckoutIn(tx, deps, { fact, provider, at }, caller);
  const place = { orgId, invoiceId: InvoiceId.parse(fact.invoiceId) };
  if ((await findInvoice(tx, orgId, place.invoiceId)) === null) return false;
  const { invoiceId } = place;
  switch (fact.kind) {
    case 'paid': {
      const { amountMinor, currency, methodId } = fact;
      const reference = ledgerReferenceOf(provider.name, fact.reference);
      await receivePaymentIn(tx, deps, { invoiceId, amountMinor, currency, reference, at }, caller);
      if (methodId !== null) await setPaymentMethod(tx, { orgId, provider: provider.name }, methodId);
      const invoice = await findInvoice(tx, orgId, invoiceId);
      if (invoice?.status !== 'open') await updateCollection(tx, place, { nextAt: null, updatedAt: at });
      return true;
    }
    case 'refused': {
      const collection = await findCollection(tx, place);
      // A refusal on the page of a checkout is the payer's to repeat. The worker has recorded a charge that was refused at once.
      if (collection?.reference !== fact.reference || collection.failureCode !== null) return false;
      await recordRefusalIn(tx, deps, { collection, code: fact.code, at }, caller);
      return true;
    }
    case 'refunded': {
      const { amountMinor, currency, requested } = fact;
      const refund = {
        invoiceId,
        amountMinor,
        currency,
        reference: ledgerReferenceOf(provider.name, fact.reference),
        at,
      };
      const isRequested = requested !== null && (await findRefund(tx, { orgId, reference: requested })) !== null;
      if (isRequested) await recordRefundIn(tx, deps, refund, caller);
      else await receiveRefundIn(tx, deps, { ...refund, paymentReference: paymentOf(provider, fact) }, caller);
      return true;
    }
    default:
      return fact satisfies never;
  }
}

function paymentOf({ name }: PaymentProvider, { paymentReference }: RefundedPayment): string | null {
  return paymentReference === null ? null : ledgerReferenceOf(name, paymentReference);
}
