import { WorkspaceId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';

/**
 * `place`: the place in the kernel's log from which the receipts of a workspace are checked next. Every workspace with
 * hints is watched (`hints.ts`).
 */
export type Watched = { workspaceId: WorkspaceId; place: number };

/** Watched workspaces after `after`, by id. */
export async function listWatched(
  reader: Reader,
  { after, limit }: { after: string; limit: number },
): Promise<WorkspaceId[]> {
  const rows = await reader.watchedWorkspace.findMany({
    where: { workspaceId: { gt: after } },
    orderBy: { workspaceId: 'asc' },
    select: { workspaceId: true },
    take: limit,
  });
  return rows.map(({ workspaceId }) => WorkspaceId.parse(workspaceId));
}

/**
 * Claims the workspaces that were last checked before then, least recently checked first. No other process gets them
 * until they are due again.
 */
export async function claimUnchecked(
  tx: Tx,
  { before, now, limit }: { before: Date; now: Date; limit: number },
): Promise<Watched[]> {
  const rows = await tx.$queryRaw<{ workspace_id: string; place: number }[]>`
    WITH due AS (
      SELECT workspace_id FROM watched_workspaces WHERE checked_at < ${before}
       ORDER BY checked_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    UPDATE watched_workspaces w SET checked_at = ${now} FROM due WHERE w.workspace_id = due.workspace_id
    RETURNING w.workspace_id, w.place`;
  return rows.map(({ workspace_id, place }) => ({ workspaceId: WorkspaceId.parse(workspace_id), place }));
}

/** Records a checked place. It only rises. */
export async function noteChecked(tx: Tx, { workspaceId, place }: Watched): Promise<void> {
  await tx.watchedWorkspace.updateMany({ where: { workspaceId, place: { lt: place } }, data: { place } });
}
