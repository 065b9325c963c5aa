import type { PlanVersion } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { assembleInvoice, type AssembledInvoice } from '../billing/assemble-invoice.ts';
import { monthlyPeriod, type Period } from '../billing/period.ts';
import { newInvoiceId } from '../ids.ts';
import { sumBilledUsage } from '../store/billed-usage.ts';
import type { Reader, Tx } from '../store/database.ts';
import { insertInvoice, type StoredInvoice } from '../store/invoices.ts';
import { getPlanVersion } from '../store/plan-versions.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { lockUsageHead, markUsageBilled, type UsageHead } from '../store/usage-events.ts';
import { commitInvoice } from './commit-invoice.ts';

/** Returns the current monthly period of the subscription. */
export function periodInProgress({ anchorAt, periodIndex }: StoredSubscription): Period {
  return monthlyPeriod(anchorAt, periodIndex);
}

type BillTo = { end: Date; taxPercent: string | null; at: Date };

/**
 * Drafts the invoice of the unbilled time up to `end` and marks the usage as billed. Returns `null` when the plan has
 * no price, or when all time up to `end` is already billed. The caller updates the subscription in the same
 * transaction.
 */
export async function billPeriod(
  tx: Tx,
  deps: BillingDeps,
  { subscription, ...to }: BillTo & { subscription: StoredSubscription },
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  if (subscription.periodStart >= to.end) return null;
  const head = await lockUsageHead(tx, subscription.orgId);
  await markUsageBilled(tx, subscription.orgId, { lastSeq: head.lastSeq, until: to.end });
  const plan = await getPlanVersion(tx, { planId: subscription.planId, version: subscription.planVersion });
  if (plan.currency === null) return null;
  const assembled = await assembleUntil(tx, { subscription, plan, head, ...to });
  const invoice = draftOf({ subscription, currency: plan.currency, assembled, head, ...to });
  await insertInvoice(tx, invoice, assembled.lines);
  await commitInvoice(tx, deps, { after: invoice, from: null, action: 'created', at: to.at }, caller);
  return invoice;
}

type Assembly = {
  subscription: StoredSubscription;
  plan: PlanVersion;
  head: UsageHead;
  end: Date;
  taxPercent: string | null;
};

/**
 * Returns the invoice of the unbilled time up to `end` with the usage so far. Drafts and previews both use this
 * function, so they show the same amount.
 */
export async function assembleUntil(
  reader: Reader,
  { subscription, plan, head, end, taxPercent }: Assembly,
): Promise<AssembledInvoice> {
  const { orgId, periodStart, billableFrom } = subscription;
  const bounds = { usageFrom: billableFrom, periodEnd: end, usageSeq: head.lastSeq, ...billedOf(head) };
  const usage = await sumBilledUsage(reader, orgId, bounds);
  const span = { start: periodStart, end };
  return assembleInvoice(plan, { period: periodInProgress(subscription), span, usage, taxPercent });
}

function billedOf({ billedSeq, billedUntil }: UsageHead): Pick<UsageHead, 'billedSeq' | 'billedUntil'> {
  return { billedSeq, billedUntil };
}

type Draft = {
  subscription: StoredSubscription;
  currency: string;
  assembled: AssembledInvoice;
  head: UsageHead;
  end: Date;
  at: Date;
};

function draftOf({ subscription, currency, assembled, head, end, at }: Draft): StoredInvoice {
  const { orgId, id: subscriptionId, planId, planVersion, periodStart, billableFrom } = subscription;
  const { subtotalMinor, taxMinor, totalMinor } = assembled;
  const { start: cycleStart, end: cycleEnd } = periodInProgress(subscription);
  return {
    ...{ id: newInvoiceId(), orgId, subscriptionId, kind: 'period', number: null, status: 'draft' },
    ...{ currency, planId, planVersion },
    ...{ periodStart, periodEnd: end, cycleStart, cycleEnd },
    ...{ usageFrom: billableFrom, usageSeq: head.lastSeq, ...billedOf(head) },
    ...{ subtotalMinor, taxMinor, totalMinor, creditedMinor: 0n, paidMinor: 0n, refundedMinor: 0n },
    ...{ createdAt: at, finalizedAt: null, closedAt: null },
  };
}
