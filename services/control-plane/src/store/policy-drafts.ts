import { instantOf, AppError, Digest, UserId, WhatIfId, type WorkspaceId } from '@countersign/contracts';
import { PolicyDraft } from '@countersign/contracts/control-plane';
import type { Reader, Tx } from './database.ts';
import { lockDraft, requireDraftNotHeld } from './draft-holds.ts';

export async function findDraft(reader: Reader, workspaceId: WorkspaceId): Promise<PolicyDraft | null> {
  const row = await reader.policyDraft.findUnique({ where: { workspaceId } });
  if (row === null) return null;
  return {
    workspace_id: workspaceId,
    version: row.version,
    state: PolicyDraft.shape.state.parse(row.state),
    text: row.text,
    policy_hash: row.policyHash === null ? null : Digest.parse(row.policyHash),
    report_id: row.reportId === null ? null : WhatIfId.parse(row.reportId),
    updated_by: UserId.parse(row.updatedBy),
    updated_at: instantOf(row.updatedAt),
  };
}

type Written = {
  workspaceId: WorkspaceId;
  text: string;
  by: UserId;
  now: Date;
  tags: readonly string[];
  passesHold: boolean;
};

/**
 * Writes a draft against the version that was read, 0 for the first, and returns the new version. Throws
 * PRECONDITION_FAILED, which contains the current and the sent versions, and ILLEGAL_TRANSITION while an owner has
 * locked the draft.
 */
export async function writeDraft(tx: Tx, { workspaceId, text, by, now, tags, passesHold }: Written): Promise<number> {
  const first = { workspaceId, version: 0, state: 'editing', text: '', updatedBy: by, updatedAt: now };
  await tx.policyDraft.createMany({ data: first, skipDuplicates: true });
  await lockDraft(tx, workspaceId);
  if (!passesHold) await requireDraftNotHeld(tx, workspaceId, now);
  const { version } = await tx.policyDraft.findUniqueOrThrow({ where: { workspaceId } });
  if (!tags.includes(String(version))) throw draftChanged(version, tags);
  const changed = { version: version + 1, state: 'editing', text, policyHash: null, reportId: null };
  await tx.policyDraft.update({ where: { workspaceId }, data: { ...changed, updatedBy: by, updatedAt: now } });
  return version + 1;
}

/** The error for a draft that changed. It contains the current and the sent versions. */
export function draftChanged(version: number, tags: readonly string[]): AppError {
  return new AppError('PRECONDITION_FAILED', 'The draft changed since it was read', {
    param: 'If-Match',
    details: { current_version: version, sent_versions: [...tags] },
  });
}

/**
 * Records the hash of a compiled version, unless the draft was edited since. A version that was compiled before keeps
 * its report, unless it no longer compiles.
 */
export async function noteCompiled(
  tx: Tx,
  { workspaceId, version, policyHash }: { workspaceId: WorkspaceId; version: number; policyHash: string | null },
): Promise<void> {
  if (policyHash === null) {
    const editing = { state: 'editing', policyHash: null, reportId: null };
    await tx.policyDraft.updateMany({ where: { workspaceId, version }, data: editing });
    return;
  }
  const where = { workspaceId, version, state: 'editing' };
  await tx.policyDraft.updateMany({ where, data: { state: 'compiled', policyHash } });
}

type OfHash = { workspaceId: WorkspaceId; policyHash: string };

export async function noteReported(tx: Tx, { workspaceId, policyHash }: OfHash, reportId: string): Promise<void> {
  const where = { workspaceId, policyHash, state: { in: ['compiled', 'reported', 'activated'] } };
  await tx.policyDraft.updateMany({ where, data: { state: 'reported', reportId } });
}

export async function noteActivated(tx: Tx, { workspaceId, policyHash }: OfHash): Promise<void> {
  await tx.policyDraft.updateMany({ where: { workspaceId, policyHash }, data: { state: 'activated' } });
}
