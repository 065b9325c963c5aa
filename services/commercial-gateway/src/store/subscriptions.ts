import { SubscriptionId } from '@countersign/contracts';
import { BillingPlanId, SubscriptionStatus } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { SubscriptionModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredSubscription = Omit<SubscriptionModel, 'id' | 'orgId' | 'planId' | 'status'> & {
  id: SubscriptionId;
  orgId: OrgId;
  planId: BillingPlanId;
  status: SubscriptionStatus;
};

/** Returns false when the organisation has a subscription that is not canceled. */
export async function insertSubscription(tx: Tx, subscription: StoredSubscription): Promise<boolean> {
  const { count } = await tx.subscription.createMany({ data: subscription, skipDuplicates: true });
  return count === 1;
}

/** Returns the subscription that is not canceled. */
export async function findCurrentSubscription(reader: Reader, orgId: OrgId): Promise<StoredSubscription | null> {
  const row = await reader.subscription.findFirst({ where: { orgId, NOT: { status: 'canceled' } } });
  return row === null ? null : subscriptionOf(row);
}

/** Returns the subscriptions of several organisations that are not canceled. */
export async function listCurrentSubscriptions(
  reader: Reader,
  orgIds: readonly OrgId[],
): Promise<ReadonlyMap<OrgId, StoredSubscription>> {
  const where = { orgId: { in: [...orgIds] }, NOT: { status: 'canceled' } };
  const rows = (await reader.subscription.findMany({ where })).map(subscriptionOf);
  return new Map(rows.map((subscription) => [subscription.orgId, subscription]));
}

export async function findSubscription(
  reader: Reader,
  orgId: OrgId,
  id: SubscriptionId,
): Promise<StoredSubscription | null> {
  const row = await reader.subscription.findFirst({ where: { orgId, id } });
  return row === null ? null : subscriptionOf(row);
}

/** Updates a subscription. The caller must hold the lock of the billing account. */
export async function updateSubscription(tx: Tx, { id, orgId, ...data }: StoredSubscription): Promise<void> {
  const { count } = await tx.subscription.updateMany({ where: { id, orgId }, data });
  if (count !== 1) throw new Error(`Subscription ${id} does not exist`);
}

function subscriptionOf({ id, orgId, planId, status, ...rest }: SubscriptionModel): StoredSubscription {
  return {
    ...rest,
    id: SubscriptionId.parse(id),
    orgId: OrgId.parse(orgId),
    planId: BillingPlanId.parse(planId),
    status: SubscriptionStatus.parse(status),
  };
}
