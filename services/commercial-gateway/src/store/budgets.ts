import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { AlertThreshold } from '../billing/budget.ts';
import type { Reader, Tx } from './database.ts';
import type { UsageHead } from './usage-events.ts';

type StoredBudget = { orgId: OrgId; currency: string; amountMinor: bigint; updatedBy: string; updatedAt: Date };

export async function writeBudget(tx: Tx, { orgId, ...budget }: StoredBudget): Promise<void> {
  await tx.billingBudget.upsert({ where: { orgId }, create: { orgId, ...budget }, update: budget });
}

export async function findBudget(
  reader: Reader,
  orgId: OrgId,
): Promise<Pick<StoredBudget, 'currency' | 'amountMinor'> | null> {
  return reader.billingBudget.findUnique({ where: { orgId }, select: { currency: true, amountMinor: true } });
}

/** Records up to which usage the budget was checked. */
export async function markBudgetChecked(
  tx: Tx,
  orgId: OrgId,
  { lastSeq: checkedSeq, billedUntil: checkedUntil }: Pick<UsageHead, 'lastSeq' | 'billedUntil'>,
): Promise<void> {
  await tx.billingBudget.updateMany({ where: { orgId }, data: { checkedSeq, checkedUntil } });
}

export type BudgetAlert = {
  orgId: OrgId;
  periodStart: Date;
  thresholdPercent: AlertThreshold;
  budgetMinor: bigint;
  amountMinor: bigint;
  currency: string;
  createdAt: Date;
};

/** Stores an alert. Returns false when the threshold was reached earlier in the period. */
export async function insertAlert(tx: Tx, alert: BudgetAlert): Promise<boolean> {
  const { count } = await tx.billingAlert.createMany({ data: alert, skipDuplicates: true });
  return count === 1;
}
