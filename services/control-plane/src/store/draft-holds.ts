import { AppError, type WorkspaceId } from '@countersign/contracts';
import type { Tx } from './database.ts';

/**
 * The time after a report in which the owner who requested it can read it and activate the draft. It is short, so that
 * a forgotten report does not block the members.
 */
const heldAfterReportMs = 900_000;

/** Waits for edits of the draft that are in progress. Edits use the same lock. */
export async function lockDraft(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.$executeRaw`SELECT FROM policy_drafts WHERE workspace_id = ${workspaceId} FOR UPDATE`;
}

/**
 * Throws ILLEGAL_TRANSITION while an owner's report holds the draft. The error names the holder, and the end of the
 * hold once the report is finished. Without the hold, a member could invalidate every report before its activation. The
 * caller must have locked the draft with `lockDraft`.
 */
export async function requireDraftNotHeld(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<void> {
  const since = new Date(now.getTime() - heldAfterReportMs);
  const job = await tx.whatIfJob.findFirst({
    where: { workspaceId, holdsDraft: true, OR: [{ finishedAt: null }, { finishedAt: { gt: since } }] },
    orderBy: { finishedAt: { sort: 'desc', nulls: 'first' } },
    select: { askedBy: true, finishedAt: true },
  });
  if (job === null) return;
  const { askedBy, finishedAt } = job;
  const until = finishedAt === null ? null : new Date(finishedAt.getTime() + heldAfterReportMs).toISOString();
  const end = until === null ? '15 minutes after the report is finished' : until;
  throw new AppError(
    'ILLEGAL_TRANSITION',
    `The draft is locked by ${askedBy} until ${end}. Try again then, or ask an owner`,
    {
      details: { held_by: askedBy, held_until: until },
    },
  );
}

export async function releaseDraft(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.whatIfJob.updateMany({ where: { workspaceId, holdsDraft: true }, data: { holdsDraft: false } });
}
