import { InvoiceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { inBillingAccount, type BillingCaller } from '../billing-deps.ts';
import type { CashMovement } from '../invoicing/cash-amount.ts';
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
import type { FactOwner, PaymentFact, PaymentProvider, RefundedFact, VerifiedEvent } from './payment-provider.ts';

/**
 * Applies a verified event once. Returns false for an event that changes nothing, such as one that was applied before,
 * or one of an unknown organisation or invoice. The current state at the provider is applied, so a late event with an
 * old state changes nothing.
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
      const { amountMinor, currency, reference, methodId } = fact;
      await postPaymentIn(tx, deps, { invoiceId, amountMinor, currency, reference, provider, at }, caller);
      if (methodId !== null) await setPaymentMethod(tx, { orgId, provider: provider.name }, methodId);
      return true;
    }
    case 'refused': {
      const collection = await findCollection(tx, place);
      // Ignores a refusal on the page of a checkout, which the payer can repeat, and a refusal that the worker already
      // recorded.
      if (collection?.reference !== fact.reference || collection.failureCode !== null) return false;
      await recordRefusalIn(tx, deps, { collection, code: fact.code, at }, caller);
      return true;
    }
    case 'refunded':
      await postRefundIn(tx, deps, { fact, invoiceId, provider, at }, caller);
      return true;
    default:
      return fact satisfies never;
  }
}

type Payment = CashMovement & { invoiceId: InvoiceId; provider: PaymentProvider; at: Date };

/** Posts a payment, and ends the collection of the invoice when it is paid. A repeated payment changes nothing. */
async function postPaymentIn(
  tx: Tx,
  deps: PaymentDeps,
  { provider, at, ...payment }: Payment,
  caller: BillingCaller,
): Promise<void> {
  const { orgId } = caller;
  const { invoiceId } = payment;
  const reference = ledgerReferenceOf(provider.name, payment.reference);
  await receivePaymentIn(tx, deps, { ...payment, reference, at }, caller);
  const invoice = await findInvoice(tx, orgId, invoiceId);
  if (invoice?.status !== 'open') await updateCollection(tx, { orgId, invoiceId }, { nextAt: null, updatedAt: at });
}

type Refund = { fact: RefundedFact; invoiceId: InvoiceId; provider: PaymentProvider; at: Date };

/**
 * Posts a refund. The payment is posted first if its event has not arrived yet, because a refund requires a payment.
 */
async function postRefundIn(
  tx: Tx,
  deps: PaymentDeps,
  { fact: { payment, requested, amountMinor, currency, reference }, invoiceId, provider, at }: Refund,
  caller: BillingCaller,
): Promise<void> {
  if (payment !== null && payment.received !== null) {
    const { reference: paid, received } = payment;
    await postPaymentIn(tx, deps, { invoiceId, ...received, reference: paid, provider, at }, caller);
  }
  const refund = { invoiceId, amountMinor, currency, reference: ledgerReferenceOf(provider.name, reference), at };
  const isRequested =
    requested !== null && (await findRefund(tx, { orgId: caller.orgId, reference: requested })) !== null;
  if (isRequested) return void (await recordRefundIn(tx, deps, refund, caller));
  const paymentReference = payment === null ? null : ledgerReferenceOf(provider.name, payment.reference);
  await receiveRefundIn(tx, deps, { ...refund, paymentReference }, caller);
}
