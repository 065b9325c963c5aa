import { ReceiptId, UserId, WorkspaceId, type ApprovalId } from '@countersign/contracts';
import { HandleId, PublicApproval, PublicReceipt } from '@countersign/contracts/control-plane';
import type { EvidenceHandleModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/** What a handle shows of what it names. */
export type Shown = { kind: 'receipt'; shown: PublicReceipt } | { kind: 'approval'; shown: PublicApproval };

export type StoredHandle = Shown & {
  id: HandleId;
  workspaceId: WorkspaceId;
  /** The receipt of the decision that let it be published; null: it is not public. */
  receiptId: ReceiptId | null;
  createdBy: UserId;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertHandle(tx: Tx, handle: StoredHandle): Promise<void> {
  const objectId = handle.kind === 'receipt' ? handle.shown.receipt_id : handle.shown.approval_id;
  await tx.evidenceHandle.create({ data: { ...handle, objectId, isPublic: handle.receiptId !== null } });
}

/** One of a workspace that is neither over nor taken back. */
export async function findHandle(
  reader: Reader,
  { id, workspaceId, now }: { id: HandleId; workspaceId: WorkspaceId; now: Date },
): Promise<StoredHandle | null> {
  const row = await reader.evidenceHandle.findFirst({
    where: { id, workspaceId, revokedAt: null, expiresAt: { gt: now } },
  });
  return row === null ? null : handleOf(row);
}

type PublicName = { kind: Shown['kind']; name: HandleId | ReceiptId | ApprovalId; now: Date };

/**
 * What was published under this handle or of this object; of several publications the one that lasts longest. What is not public, over,
 * taken back or unknown is told apart by the database alone, in one statement: no answer takes longer for having been something.
 */
export async function findPublished(reader: Reader, { kind, name, now }: PublicName): Promise<StoredHandle | null> {
  const row = await reader.evidenceHandle.findFirst({
    where: { OR: [{ id: name }, { objectId: name }], kind, isPublic: true, revokedAt: null, expiresAt: { gt: now } },
    orderBy: { expiresAt: 'desc' },
  });
  return row === null ? null : handleOf(row);
}

/** False where it is over already. */
export async function revokeHandle(tx: Tx, id: HandleId, now: Date): Promise<boolean> {
  const { count } = await tx.evidenceHandle.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
  return count === 1;
}

export async function forgetHandles(tx: Tx, before: Date): Promise<void> {
  await tx.evidenceHandle.deleteMany({ where: { expiresAt: { lt: before } } });
}

function handleOf(row: EvidenceHandleModel): StoredHandle {
  const { id, workspaceId, receiptId, createdBy, createdAt, expiresAt } = row;
  return {
    ...shownOf(row),
    id: HandleId.parse(id),
    workspaceId: WorkspaceId.parse(workspaceId),
    receiptId: receiptId === null ? null : ReceiptId.parse(receiptId),
    createdBy: UserId.parse(createdBy),
    ...{ createdAt, expiresAt },
  };
}

function shownOf({ kind, shown }: EvidenceHandleModel): Shown {
  if (kind === 'receipt') return { kind, shown: PublicReceipt.parse(shown) };
  return { kind: 'approval', shown: PublicApproval.parse(shown) };
}
