import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import type { WorkspaceId } from '@countersign/contracts';
import type { MeteredReceipt } from '@countersign/contracts/governance-kernel';
import { usageOfReceipt } from '../metering/usage-of-receipt.ts';
import { advanceUsageCursor, findUsagePosition, recordUsage } from '../store/usage-events.ts';
import type { Reader } from '../store/database.ts';

/** A page of receipts of one workspace, in the order of the log. */
type ReceiptPage = {
  workspaceId: WorkspaceId;
  /** The position at which the page begins. */
  from: bigint;
  /** The position at which the next page begins. */
  to: bigint;
  receipts: readonly MeteredReceipt[];
};

/** Returns the position of the next page of receipts of a workspace. It is 0 before the first page. */
export function nextReceiptPosition(
  reader: Reader,
  { orgId, workspaceId }: { orgId: BillingCaller['orgId']; workspaceId: WorkspaceId },
): Promise<bigint> {
  return findUsagePosition(reader, { orgId, source: sourceOf(workspaceId) });
}

/**
 * Stores the usage of a page of receipts and moves the read position in the same transaction. Returns false when
 * another reader stored this page. Throws when a receipt belongs to another workspace.
 */
export function recordReceipts(
  { transaction, now }: Pick<BillingDeps, 'transaction' | 'now'>,
  { workspaceId, from, to, receipts }: ReceiptPage,
  { orgId }: Pick<BillingCaller, 'orgId'>,
): Promise<boolean> {
  const foreign = receipts.find(({ tenant_id }) => String(tenant_id) !== String(workspaceId));
  if (foreign !== undefined) throw new Error(`Receipt ${foreign.receipt_id} is not of workspace ${workspaceId}`);
  const receivedAt = now();
  const events = receipts.flatMap(usageOfReceipt);
  return transaction(async (tx) => {
    const isNew = await advanceUsageCursor(tx, { orgId, source: sourceOf(workspaceId), from, to, now: receivedAt });
    if (isNew) await recordUsage(tx, { orgId, events, receivedAt });
    return isNew;
  });
}

function sourceOf(workspaceId: WorkspaceId): string {
  return `/governance-kernel/receipts/${workspaceId}`;
}
