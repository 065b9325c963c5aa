import type { WorkspaceId } from '@countersign/contracts';
import { HintType } from '@countersign/contracts/control-plane';
import type { Reader, Tx } from './database.ts';

/** The scope of a change that affects all workspaces. */
export const everyWorkspace = '*';
export type HintScope = WorkspaceId | typeof everyWorkspace;

export type NewHint = { type: HintType; ref: string | null; version: number | null };
export type StoredHint = NewHint & { seq: number };

/** The places up to which the hints of a workspace, and the hints for all workspaces, were read. */
export type Place = { own: number; all: number };

/** A longer text cannot be one of our IDs, so the hint is stored without a `ref`. */
const refLengthMax = 512;

/**
 * Records a change in the caller's transaction. Call it late, since it locks the end of the hints until the commit.
 * The first hint of a workspace makes it a watched workspace.
 */
export async function recordHint(tx: Tx, scope: HintScope, { type, ref, version }: NewHint, now: Date): Promise<void> {
  const shortRef = ref === null || ref.length > refLengthMax ? null : ref;
  await tx.$executeRaw`
    WITH head AS (
      INSERT INTO hint_heads (scope, seq) VALUES (${scope}, 1)
      ON CONFLICT (scope) DO UPDATE SET seq = hint_heads.seq + 1 RETURNING seq),
    watched AS (
      INSERT INTO watched_workspaces (workspace_id, place, checked_at)
      SELECT ${scope}, 0, ${now} FROM head WHERE seq = 1 AND ${scope} <> ${everyWorkspace} ON CONFLICT DO NOTHING)
    INSERT INTO hints (scope, seq, type, ref, version, created_at)
    SELECT ${scope}, seq, ${type}, ${shortRef}, ${version}, ${now} FROM head`;
}

/** `false` for a list of members that is not newer than the last list, so nothing changed. */
export async function noteMembers(tx: Tx, scope: WorkspaceId, membersVersion: number): Promise<boolean> {
  await tx.hintHead.createMany({ data: { scope, seq: 0 }, skipDuplicates: true });
  const { count } = await tx.hintHead.updateMany({
    where: { scope, membersVersion: { lt: membersVersion } },
    data: { membersVersion },
  });
  return count === 1;
}

/** The place of the last hint of each of these scopes, read at the same moment. */
export async function listHintHeads(
  reader: Reader,
  scopes: readonly HintScope[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.hintHead.findMany({ where: { scope: { in: [...scopes] } } });
  return new Map(rows.map(({ scope, seq }) => [scope, seq]));
}

/** The last places of the hints that concern a workspace. */
export async function findPlace(reader: Reader, workspaceId: WorkspaceId): Promise<Place> {
  const heads = await listHintHeads(reader, [workspaceId, everyWorkspace]);
  return { own: heads.get(workspaceId) ?? 0, all: heads.get(everyWorkspace) ?? 0 };
}

/** The hints after `after` up to `to`, in order. */
export async function listHints(
  reader: Reader,
  { scope, after, to }: { scope: HintScope; after: number; to: number },
): Promise<StoredHint[]> {
  const where = { scope, seq: { gt: after, lte: to } };
  const rows = await reader.hint.findMany({ where, orderBy: { seq: 'asc' } });
  return rows.map(({ seq, type, ref, version }) => ({ seq, type: HintType.parse(type), ref, version }));
}

/** The highest number that `countHints` returns. */
const countedMax = 1_000;

/** Counts the hints of a scope from `since` on. */
export async function countHints(reader: Reader, { scope, since }: { scope: HintScope; since: Date }): Promise<number> {
  const newest = { where: { scope }, orderBy: { seq: 'desc' }, take: countedMax } as const;
  const rows = await reader.hint.findMany({ ...newest, select: { createdAt: true } });
  return rows.filter(({ createdAt }) => createdAt >= since).length;
}

/** Removes the hints from before this time. A page that missed such a hint reads everything again. */
export async function forgetHints(tx: Tx, before: Date): Promise<void> {
  await tx.hint.deleteMany({ where: { createdAt: { lt: before } } });
}
