import type { SubscriptionId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { assembleLateInvoice } from '../billing/assemble-invoice.ts';
import { isLateUsageOver } from '../billing/subscription-status.ts';
import { newInvoiceId } from '../ids.ts';
import { sumBilledUsage } from '../store/billed-usage.ts';
import type { Tx } from '../store/database.ts';
import { findLastInvoice, insertInvoice, type StoredInvoice } from '../store/invoices.ts';
import { getPlanVersion } from '../store/plan-versions.ts';
import { findSubscription, updateSubscription } from '../store/subscriptions.ts';
import { lockUsageHead } from '../store/usage-events.ts';
import { auditSubscription } from '../subscriptions/commit-subscription.ts';
import { commitInvoice } from './commit-invoice.ts';

type Settlement = { id: SubscriptionId; taxPercent: string | null };

/**
 * Drafts the last invoice of a canceled subscription, for usage that arrived after the cancellation. It is drafted
 * once, after late usage is no longer accepted. Returns `null` before that time, or when there is nothing to bill.
 */
export function settleCanceled(
  deps: BillingDeps,
  { id, taxPercent }: Settlement,
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const subscription = await findSubscription(tx, caller.orgId, id);
    if (subscription === null || subscription.settledAt !== null || subscription.canceledAt === null) return null;
    if (!isLateUsageOver(subscription.canceledAt, at)) return null;
    const last = await findLastInvoice(tx, caller.orgId, id);
    const invoice = last === null ? null : await draftLateInvoice(tx, deps, { last, taxPercent, at }, caller);
    const after = { ...subscription, settledAt: at, updatedAt: at };
    await updateSubscription(tx, after);
    await auditSubscription(tx, after, { action: 'settled_late', caller, from: subscription.status });
    return invoice;
  });
}

type LateBill = { last: StoredInvoice; taxPercent: string | null; at: Date };

/**
 * Bills usage that was stored after the last invoice and occurred before the end of its period. A later subscription
 * does not bill this usage.
 */
async function draftLateInvoice(
  tx: Tx,
  deps: BillingDeps,
  { last, taxPercent, at }: LateBill,
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  const { lastSeq } = await lockUsageHead(tx, last.orgId);
  const bounds = { usageSeq: lastSeq, billedSeq: last.usageSeq, billedUntil: last.periodEnd };
  const [billed, added] = [
    await sumBilledUsage(tx, last.orgId, last),
    await sumBilledUsage(tx, last.orgId, { ...last, ...bounds }),
  ];
  const plan = await getPlanVersion(tx, { planId: last.planId, version: last.planVersion });
  const period = { start: last.cycleStart, end: last.cycleEnd };
  const span = { start: last.periodStart, end: last.periodEnd };
  const assembled = assembleLateInvoice(plan, { period, span, billed, added, taxPercent });
  if (assembled.totalMinor === 0n) return null;
  const { lines, ...totals } = assembled;
  const invoice: StoredInvoice = {
    ...{ ...last, ...bounds, ...totals, id: newInvoiceId(), kind: 'late_usage', number: null, status: 'draft' },
    ...{ creditedMinor: 0n, paidMinor: 0n, refundedMinor: 0n, createdAt: at, finalizedAt: null, closedAt: null },
  };
  await insertInvoice(tx, invoice, lines);
  await commitInvoice(tx, deps, { after: invoice, from: null, action: 'created', at }, caller);
  return invoice;
}
