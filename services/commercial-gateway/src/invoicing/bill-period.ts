import type { PlanVersion } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { assembleInvoice, type AssembledInvoice } from '../billing/assemble-invoice.ts';
import { monthlyPeriod, type Period } from '../billing/period.ts';
import { newInvoiceId } from '../ids.ts';
import { sumBilledUsage } from '../store/billed-usage.ts';
import type { Tx } from '../store/database.ts';
import { insertInvoice, type StoredInvoice } from '../store/invoices.ts';
import { getPlanVersion } from '../store/plan-versions.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { lockUsageHead, markUsageBilled, type UsageHead } from '../store/usage-events.ts';
import { commitInvoice } from './commit-invoice.ts';

/** The monthly period of the subscription that is in progress. */
export function periodInProgress({ anchorAt, periodIndex }: StoredSubscription): Period {
  return monthlyPeriod(anchorAt, periodIndex);
}

type BillTo = { end: Date; taxPercent: string | null; at: Date };

/**
 * Drafts the invoice of the unbilled time up to `end` and marks the usage as billed. Returns `null` when the plan has no price or when
 * no time is unbilled. The caller updates the subscription in the same transaction.
 */
export async function billPeriod(
  tx: Tx,
  deps: BillingDeps,
  { subscription, ...to }: BillTo & { subscription: StoredSubscription },
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  const part = { start: subscription.periodStart, end: to.end };
  const plan = await getPlanVersion(tx, { planId: subscription.planId, version: subscription.planVersion });
  if (part.start >= part.end) return null;
  const head = await lockUsageHead(tx, subscription.orgId);
  await markUsageBilled(tx, subscription.orgId, { lastSeq: head.lastSeq, until: to.end });
  if (plan.currency === null) return null;
  const bounds = {
    usageFrom: subscription.billableFrom,
    periodEnd: part.end,
    usageSeq: head.lastSeq,
    ...billedOf(head),
  };
  const usage = await sumBilledUsage(tx, subscription.orgId, bounds);
  const period = periodInProgress(subscription);
  const assembled = assembleInvoice(plan, { period, part, usage, taxPercent: to.taxPercent });
  const invoice = draftOf({
    subscription,
    plan: { ...plan, currency: plan.currency },
    assembled,
    part,
    head,
    at: to.at,
  });
  await insertInvoice(tx, invoice, assembled.lines);
  await commitInvoice(tx, deps, { after: invoice, from: null, action: 'created', at: to.at }, caller);
  return invoice;
}

function billedOf({ billedSeq, billedUntil }: UsageHead): Pick<UsageHead, 'billedSeq' | 'billedUntil'> {
  return { billedSeq, billedUntil };
}

type Draft = {
  subscription: StoredSubscription;
  plan: Omit<PlanVersion, 'currency'> & { currency: string };
  assembled: AssembledInvoice;
  part: Period;
  head: UsageHead;
  at: Date;
};

function draftOf({ subscription, plan, assembled, part, head, at }: Draft): StoredInvoice {
  const { subtotalMinor, taxMinor, totalMinor } = assembled;
  return {
    ...{ id: newInvoiceId(), orgId: subscription.orgId, subscriptionId: subscription.id, number: null },
    ...{ status: 'draft', currency: plan.currency, planId: plan.plan_id, planVersion: plan.version },
    ...{ periodStart: part.start, periodEnd: part.end, usageFrom: subscription.billableFrom, usageSeq: head.lastSeq },
    ...billedOf(head),
    ...{ subtotalMinor, taxMinor, totalMinor, creditedMinor: 0n, paidMinor: 0n, refundedMinor: 0n },
    ...{ createdAt: at, finalizedAt: null, closedAt: null },
  };
}
