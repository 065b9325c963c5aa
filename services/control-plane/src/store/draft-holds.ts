import { AppError, type UserId, type WorkspaceId } from '@countersign/contracts';
import type { Tx } from './database.ts';

/**
 * The time after a report in which the owner who requested it can read it and activate the draft. It is short, so that
 * a forgotten report does not block the members.
 */
const heldAfterReportMs = 900_000;
/** Enough to read the draft again, edit it and request its report. */
const reservedMs = 300_000;

/** Waits for edits of the draft that are in progress. Edits use the same lock. */
export async function lockDraft(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.$executeRaw`SELECT FROM policy_drafts WHERE workspace_id = ${workspaceId} FOR UPDATE`;
}

/**
 * Throws ILLEGAL_TRANSITION while an owner's report or reservation holds the draft. The error names the holder, and the
 * end of the hold if it is known. Without the hold, a member could invalidate every report before its activation. The
 * caller must have locked the draft with `lockDraft`.
 */
export async function requireDraftNotHeld(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<void> {
  const hold = (await findReportHold(tx, workspaceId, now)) ?? (await findReservation(tx, workspaceId, now));
  if (hold === null) return;
  const until = hold.until?.toISOString() ?? null;
  const end = until ?? '15 minutes after the report is finished';
  throw new AppError(
    'ILLEGAL_TRANSITION',
    `The draft is locked by ${hold.by} until ${end}. Try again then, or ask an owner`,
    {
      details: { held_by: hold.by, held_until: until },
    },
  );
}

/** `until` is null while the end is unknown. */
type Hold = { by: string; until: Date | null };

async function findReportHold(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<Hold | null> {
  const since = new Date(now.getTime() - heldAfterReportMs);
  const job = await tx.whatIfJob.findFirst({
    where: { workspaceId, holdsDraft: true, OR: [{ finishedAt: null }, { finishedAt: { gt: since } }] },
    orderBy: { finishedAt: { sort: 'desc', nulls: 'first' } },
    select: { askedBy: true, finishedAt: true },
  });
  if (job === null) return null;
  const { askedBy: by, finishedAt } = job;
  return { by, until: finishedAt === null ? null : new Date(finishedAt.getTime() + heldAfterReportMs) };
}

async function findReservation(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<Hold | null> {
  const draft = await tx.policyDraft.findFirst({
    where: { workspaceId, reservedUntil: { gt: now } },
    select: { reservedBy: true, reservedUntil: true },
  });
  if (draft === null || draft.reservedBy === null) return null;
  return { by: draft.reservedBy, until: draft.reservedUntil };
}

/**
 * Reserves the draft for an owner if another person wrote its current version. Returns whether it did. Otherwise a
 * member who keeps writing could refuse each try of the owner.
 */
export async function reserveDraft(tx: Tx, { workspaceId, by, now }: Reservation): Promise<boolean> {
  await lockDraft(tx, workspaceId);
  const { count } = await tx.policyDraft.updateMany({
    where: { workspaceId, updatedBy: { not: by } },
    data: { reservedBy: by, reservedUntil: new Date(now.getTime() + reservedMs) },
  });
  return count > 0;
}

type Reservation = { workspaceId: WorkspaceId; by: UserId; now: Date };

export async function releaseDraft(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.whatIfJob.updateMany({ where: { workspaceId, holdsDraft: true }, data: { holdsDraft: false } });
  await tx.policyDraft.updateMany({ where: { workspaceId }, data: { reservedBy: null, reservedUntil: null } });
}
