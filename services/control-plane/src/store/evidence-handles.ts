import { AppError, Instant, ReceiptId, UserId, WorkspaceId } from '@countersign/contracts';
import {
  HandleId,
  NamedId,
  NamedKind,
  PublicApproval,
  PublicReceipt,
  PublicReplay,
} from '@countersign/contracts/control-plane';
import type { EvidenceHandleModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/** The content of a handle. */
export type Shown =
  | { kind: 'receipt'; shown: PublicReceipt }
  | { kind: 'approval'; shown: PublicApproval }
  | { kind: 'replay'; shown: PublicReplay };

export type StoredHandle = Shown & {
  id: HandleId;
  workspaceId: WorkspaceId;
  /** The receipt of the decision that permitted the publication. `null` for a handle that is not public. */
  receiptId: ReceiptId | null;
  createdBy: UserId;
  createdAt: Date;
  expiresAt: Date;
};

/** Requires the lock of the workspace's public proof setting, which applies to each handle. */
export async function insertHandle(tx: Tx, handle: StoredHandle): Promise<void> {
  const objectId = objectIdOf(handle);
  await tx.evidenceHandle.create({ data: { ...handle, objectId, isPublic: handle.receiptId !== null } });
}

/** A handle of a workspace that has neither expired nor been revoked. */
export async function findHandle(
  reader: Reader,
  { id, workspaceId, now }: { id: HandleId; workspaceId: WorkspaceId; now: Date },
): Promise<StoredHandle | null> {
  const row = await reader.evidenceHandle.findFirst({
    where: { id, workspaceId, revokedAt: null, expiresAt: { gt: now } },
  });
  return row === null ? null : handleOf(row);
}

/** A handle without its content. */
export type NamedHandle = Omit<StoredHandle, 'kind' | 'shown'> & { kind: Shown['kind']; objectId: NamedId };
type Input = { workspaceId: WorkspaceId; now: Date; limit: number; cursor?: string | undefined };

/** Handles of a workspace that have neither expired nor been revoked, newest first. */
export async function listHandles(
  reader: Reader,
  { workspaceId, now, limit, cursor }: Input,
): Promise<{ handles: NamedHandle[]; nextCursor: string | null }> {
  const rows = await reader.evidenceHandle.findMany({
    where: { workspaceId, revokedAt: null, expiresAt: { gt: now }, ...(cursor === undefined ? {} : behind(cursor)) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
    omit: { shown: true },
  });
  const handles = rows.slice(0, limit).map(namedOf);
  const last = rows.length > limit ? handles.at(-1) : undefined;
  return { handles, nextCursor: last === undefined ? null : cursorAt(last) };
}

type Place = Pick<StoredHandle, 'id' | 'createdAt'>;

function cursorAt({ id, createdAt }: Place): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

/** The condition for rows after a cursor. The cursor is attacker-controlled, but can only name a place in the list. */
function behind(cursor: string) {
  const [at, id] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const place = { at: Instant.safeParse(at).data, id: HandleId.safeParse(id).data };
  if (place.at === undefined || place.id === undefined)
    throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', {
      param: 'cursor',
    });
  return { createdAt: { lte: place.at }, OR: [{ createdAt: { lt: place.at } }, { id: { lt: place.id } }] };
}

type PublicName = { kind: Shown['kind']; name: HandleId | NamedId; now: Date };

/**
 * The publication with this handle or of this object. If there are several, the one that lasts longest. One statement
 * excludes unknown, private, expired and revoked handles, and workspaces without public proof, so the time of an answer
 * does not reveal whether an object existed.
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

/** `false` when it was already revoked or does not exist. */
export async function revokeHandle(tx: Tx, id: HandleId, now: Date): Promise<boolean> {
  const { count } = await tx.evidenceHandle.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
  return count === 1;
}

export async function forgetHandles(tx: Tx, before: Date): Promise<void> {
  await tx.evidenceHandle.deleteMany({ where: { expiresAt: { lt: before } } });
}

export function objectIdOf({ kind, shown }: Shown): NamedId {
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
  return { ...shownOf(row), ...namesOf(row) };
}

function namedOf(row: Omit<EvidenceHandleModel, 'shown'>): NamedHandle {
  return { kind: NamedKind.parse(row.kind), objectId: NamedId.parse(row.objectId), ...namesOf(row) };
}

function namesOf(row: Omit<EvidenceHandleModel, 'shown'>): Omit<NamedHandle, 'kind' | 'objectId'> {
  const { id, workspaceId, receiptId, createdBy, createdAt, expiresAt } = row;
  return {
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
