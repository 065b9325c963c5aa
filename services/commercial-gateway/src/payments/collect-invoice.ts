import { inBillingAccount, type BillingCaller } from '../billing-deps.ts';
import { nextChargeAt, transferDueAt } from '../billing/collection-schedule.ts';
import { openMinorOf } from '../invoicing/commit-invoice.ts';
import { receivePaymentIn } from '../invoicing/receive-payment.ts';
import { hasOpenCheckout } from '../store/checkouts.ts';
import { findCollection, setPaymentReference, updateCollection, type StoredCollection } from '../store/collections.ts';
import type { Tx } from '../store/database.ts';
import { findInvoice, type StoredInvoice } from '../store/invoices.ts';
import { findCustomer } from '../store/payment-customers.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { moveSubscriptionIn } from '../subscriptions/move-subscription.ts';
import { checkoutsClosedBefore } from './checkout-lifetime.ts';
import { providerActor, type PaymentDeps } from './payment-deps.ts';
import { readAgainAt } from './processing-time.ts';
import { ledgerReferenceOf } from './provider-reference.ts';
import type { ChargeOutcome, PaymentProvider } from './payment-provider.ts';

/** Pause before an invoice with an open checkout page is collected again. The page stays open for an hour. */
const checkoutPauseMs = 600_000;

/**
 * Collects one open invoice that this worker has claimed: creates the payment, stores its reference, charges it and
 * posts its result. The provider is called between transactions, never within one. A crash can repeat a step, but never
 * a charge.
 */
export async function collectInvoice(deps: PaymentDeps, collection: StoredCollection): Promise<void> {
  const { orgId, invoiceId } = collection;
  const { reader } = deps.database;
  const invoice = await findInvoice(reader, orgId, invoiceId);
  if (invoice === null || invoice.status !== 'open') return await plan(deps, collection, null);
  const now = deps.now();
  if (await hasOpenCheckout(reader, collection, checkoutsClosedBefore(now)))
    return await plan(deps, collection, new Date(now.getTime() + checkoutPauseMs));
  const provider = deps.payments.byName[collection.provider ?? deps.payments.charging.name] ?? deps.payments.charging;
  const outcome = await chargeInvoice(deps, provider, { collection, invoice });
  if (outcome.kind !== 'prepared') return await recordOutcome(deps, provider, { collection, outcome });
  const { reference } = outcome;
  const at = deps.now();
  await deps.transaction((tx) => setPaymentReference(tx, collection, { provider: provider.name, reference, at }));
  // Another worker may have stored its own payment first. That payment is charged.
  const stored = await findCollection(reader, collection);
  if (stored !== null && stored.reference !== null) await collectInvoice(deps, stored);
}

type Collected = { collection: StoredCollection; invoice: StoredInvoice };

async function chargeInvoice(
  { database }: PaymentDeps,
  provider: PaymentProvider,
  { collection, invoice }: Collected,
): Promise<ChargeOutcome> {
  const { orgId, id: invoiceId, currency } = invoice;
  const customer = await findCustomer(database.reader, { orgId, provider: provider.name });
  const amountMinor = openMinorOf(invoice);
  return provider.charge({ orgId, invoiceId, amountMinor, currency, customer, reference: collection.reference });
}

type Outcome = { collection: StoredCollection; outcome: Exclude<ChargeOutcome, { kind: 'prepared' }> };

function recordOutcome(deps: PaymentDeps, provider: PaymentProvider, { collection, outcome }: Outcome): Promise<void> {
  const caller = { orgId: collection.orgId, actor: providerActor(provider), requestId: null };
  return inBillingAccount(deps, collection.orgId, async (tx, at) => {
    switch (outcome.kind) {
      case 'succeeded': {
        const { amountMinor, currency } = outcome;
        const reference = ledgerReferenceOf(provider.name, outcome.reference);
        const payment = { invoiceId: collection.invoiceId, amountMinor, currency, reference, at };
        await receivePaymentIn(tx, deps, payment, caller);
        return await updateCollection(tx, collection, { nextAt: null, failureCode: null, updatedAt: at });
      }
      case 'processing':
        // `failureCode` is cleared so that the event of a later refusal is recorded.
        return await updateCollection(tx, collection, { failureCode: null, nextAt: readAgainAt(at), updatedAt: at });
      case 'refused':
        return await recordRefusalIn(tx, deps, { collection, code: outcome.code, at }, caller);
      case 'not_charged':
        return await awaitTransferIn(tx, deps, { collection, at }, caller);
      default:
        return outcome satisfies never;
    }
  });
}

type Refusal = { collection: StoredCollection; code: string; at: Date };

/**
 * Records a refused charge, which makes the subscription past due. The schedule repeats the charge. An invoice that was
 * paid in the meantime stays unchanged.
 */
export async function recordRefusalIn(
  tx: Tx,
  deps: PaymentDeps,
  { collection, code, at }: Refusal,
  caller: BillingCaller,
): Promise<void> {
  const invoice = await findInvoice(tx, collection.orgId, collection.invoiceId);
  if (invoice === null || invoice.status !== 'open')
    return await updateCollection(tx, collection, { nextAt: null, updatedAt: at });
  const attempts = collection.attempts + 1;
  const change = { attempts, failureCode: code.slice(0, 128), nextAt: nextChargeAt(attempts, at), updatedAt: at };
  await updateCollection(tx, collection, change);
  await failPaymentIn(tx, deps, { invoice, at }, caller);
}

type Waiting = { collection: StoredCollection; at: Date };

/** Makes the subscription past due when an invoice that is paid by transfer is overdue. */
async function awaitTransferIn(
  tx: Tx,
  deps: PaymentDeps,
  { collection, at }: Waiting,
  caller: BillingCaller,
): Promise<void> {
  const invoice = await findInvoice(tx, collection.orgId, collection.invoiceId);
  const isOpen = invoice !== null && invoice.status === 'open' && invoice.finalizedAt !== null;
  const dueAt = isOpen && invoice.finalizedAt !== null ? transferDueAt(invoice.finalizedAt) : null;
  const isOverdue = dueAt !== null && dueAt <= at;
  await updateCollection(tx, collection, { nextAt: isOverdue ? null : dueAt, updatedAt: at });
  if (isOverdue && invoice !== null) await failPaymentIn(tx, deps, { invoice, at }, caller);
}

/**
 * Makes the current subscription past due, even for an invoice of an older subscription. Otherwise a new subscription
 * would avoid the consequences.
 */
async function failPaymentIn(
  tx: Tx,
  deps: PaymentDeps,
  { invoice, at }: { invoice: StoredInvoice; at: Date },
  caller: BillingCaller,
): Promise<void> {
  const before = await findCurrentSubscription(tx, invoice.orgId);
  if (before?.status !== 'active') return;
  await moveSubscriptionIn(tx, deps, { before, action: 'fail_payment', at }, caller);
}

function plan({ transaction, now }: PaymentDeps, collection: StoredCollection, nextAt: Date | null): Promise<void> {
  return transaction((tx) => updateCollection(tx, collection, { nextAt, updatedAt: now() }));
}
