import { ReceiptId, UserId, WorkspaceId, type ApprovalId } from '@countersign/contracts';
import {
  HandleId,
  PublicApproval,
  PublicReceipt,
  PublicReplay,
  type ReplayId,
} from '@countersign/contracts/control-plane';
import type { EvidenceHandleModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/** What a handle shows of what it names. */
export type Shown =
  | { kind: 'receipt'; shown: PublicReceipt }
  | { kind: 'approval'; shown: PublicApproval }
  | { kind: 'replay'; shown: PublicReplay };
/** What a handle names. */
export type ObjectId = ReceiptId | ApprovalId | ReplayId;

export type StoredHandle = Shown & {
  id: HandleId;
  workspaceId: WorkspaceId;
  /** The receipt of the decision that let it be published; null: it is not public. */
  receiptId: ReceiptId | null;
  createdBy: UserId;
  createdAt: Date;
  expiresAt: Date;
};

/** The setting of its workspace must have been locked: each handle stands under one. */
export async function insertHandle(tx: Tx, handle: StoredHandle): Promise<void> {
  const objectId = objectIdOf(handle);
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

type PublicName = { kind: Shown['kind']; name: HandleId | ObjectId; now: Date };

/**
 * What was published under this handle or of this object; of several publications the one that lasts longest. What is not public, over,
 * taken back, shut by its workspace or unknown is told apart by the database alone, in one statement: no answer takes longer for having
 * been something.
 */
export async function findPublished(reader: Reader, { kind, name, now }: PublicName): Promise<StoredHandle | null> {
  const row = await reader.evidenceHandle.findFirst({
    where: {
      ...{ OR: [{ id: name }, { objectId: name }], kind, isPublic: true, revokedAt: null, expiresAt: { gt: now } },
      publicProof: { setting: 'published' },
    },
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

export function objectIdOf({ kind, shown }: Shown): ObjectId {
  switch (kind) {
    case 'receipt':
      return shown.receipt_id;
    case 'approval':
      return shown.approval_id;
    case 'replay':
      return shown.replay_id;
    default:
      return kind satisfies never;
  }
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
  if (kind === 'replay') return { kind, shown: PublicReplay.parse(shown) };
  return { kind: 'approval', shown: PublicApproval.parse(shown) };
}
