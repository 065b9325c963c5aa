import { AppError } from '@countersign/contracts';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { announceEntitlements } from '../entitlements/announce-entitlements.ts';
import { publishSubscriptionUpdated } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findCurrentSubscription, updateSubscription, type StoredSubscription } from '../store/subscriptions.ts';

/** Returns the subscription of the caller's organisation. Throws NOT_FOUND when it has none, or only canceled ones. */
export async function getCurrentSubscription(tx: Tx, { orgId }: BillingCaller): Promise<StoredSubscription> {
  const subscription = await findCurrentSubscription(tx, orgId);
  if (subscription === null) throw new AppError('NOT_FOUND', 'The organisation has no subscription');
  return subscription;
}

type SubscriptionChange = { before: StoredSubscription; after: StoredSubscription; action: string };

/** Writes a changed subscription with its event and audit entry. */
export async function commitSubscription(
  tx: Tx,
  deps: BillingDeps,
  { before, after, action }: SubscriptionChange,
  caller: BillingCaller,
): Promise<void> {
  await updateSubscription(tx, after);
  await publishSubscriptionUpdated(tx, deps, { subscription: after, from: before.status });
  if (changesTerms(before, after)) await announceEntitlements(tx, deps, changeOf(after));
  await auditSubscription(tx, after, { action, caller, from: before.status });
}

function changesTerms(before: StoredSubscription, after: StoredSubscription): boolean {
  return before.status !== after.status || before.planId !== after.planId || before.planVersion !== after.planVersion;
}

/** Returns the cause for the event about the changed entitlements. */
export function changeOf({ orgId, updatedAt }: StoredSubscription) {
  return { orgId, now: updatedAt, cause: 'subscription' } as const;
}

type AuditedChange = { action: string; caller: BillingCaller; from: StoredSubscription['status'] | null };

export async function auditSubscription(
  tx: Tx,
  { id, status, planId, planVersion, updatedAt }: StoredSubscription,
  { action, caller: { orgId, actor, requestId }, from }: AuditedChange,
): Promise<void> {
  const details = { from, status, plan_id: planId, plan_version: planVersion };
  const act = { scope: orgId, action: `subscription.${action}`, actor, requestId, subject: id, details };
  await recordAudit(tx, { ...act, verdict: 'allow' }, updatedAt);
}
