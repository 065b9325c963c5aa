import type { Tx } from './database.ts';

/** Settings that must be delivered to the kernel, and the mark of this delivery. */
export type DueSettings = { workspaceId: string; mark: Date };

type Taking = {
  limit: number;
  /** The time after which another attempt is due. */
  retryMs: number;
};

/** Marks due settings, the longest due first. Each gateway claims different ones. */
export async function takeDueSettings(tx: Tx, { limit, retryMs }: Taking): Promise<DueSettings[]> {
  return await tx.$queryRaw<DueSettings[]>`
    UPDATE workspaces SET settings_due_at = now() + ${retryMs}::float8 * interval '1 millisecond' WHERE id IN (
      SELECT id FROM workspaces WHERE settings_due_at <= now()
       ORDER BY settings_due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id AS "workspaceId", settings_due_at AS mark`;
}

/**
 * Makes delivered settings due again after `againMs`. If they changed in the meantime, the mark is gone and they stay
 * due.
 */
export async function postponeSettings(tx: Tx, { workspaceId, mark }: DueSettings, againMs: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE workspaces SET settings_due_at = now() + ${againMs}::float8 * interval '1 millisecond'
     WHERE id = ${workspaceId} AND settings_due_at = ${mark}`;
}
