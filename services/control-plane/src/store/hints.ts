import type { WorkspaceId } from '@countersign/contracts';
import { HintType } from '@countersign/contracts/control-plane';
import type { Reader, Tx } from './database.ts';

/** The scope of a change: a workspace, or all. */
export const everyWorkspace = '*';
export type HintScope = WorkspaceId | typeof everyWorkspace;

export type NewHint = { type: HintType; ref: string | null; version: number | null };
export type StoredHint = NewHint & { seq: number };

/** How far what is told of a workspace, and of every one, was read. */
export type Place = { own: number; all: number };

/** A longer one is no id of ours: what changed is read by its kind. */
const refLengthMax = 512;

/**
 * Tells in the caller's transaction that something changed. Call it late: it holds the end of what is told until the commit. A workspace that is
 * told of something for the first time is watched from then on.
 */
export async function recordHint(tx: Tx, scope: HintScope, { type, ref, version }: NewHint, now: Date): Promise<void> {
  const told = ref === null || ref.length > refLengthMax ? null : ref;
  await tx.$executeRaw`
    WITH head AS (
      INSERT INTO hint_heads (scope, seq) VALUES (${scope}, 1)
      ON CONFLICT (scope) DO UPDATE SET seq = hint_heads.seq + 1 RETURNING seq),
    watched AS (
      INSERT INTO watched_workspaces (workspace_id, place, checked_at)
      SELECT ${scope}, 0, ${now} FROM head WHERE seq = 1 AND ${scope} <> ${everyWorkspace} ON CONFLICT DO NOTHING)
    INSERT INTO hints (scope, seq, type, ref, version, created_at)
    SELECT ${scope}, seq, ${type}, ${told}, ${version}, ${now} FROM head`;
}

/** False for a list of members that is not newer than the last that was told: it only confirms that one. */
export async function noteMembers(tx: Tx, scope: WorkspaceId, membersVersion: number): Promise<boolean> {
  await tx.hintHead.createMany({ data: { scope, seq: 0 }, skipDuplicates: true });
  const { count } = await tx.hintHead.updateMany({
    where: { scope, membersVersion: { lt: membersVersion } },
    data: { membersVersion },
  });
  return count === 1;
}

/** Where what is told of these ends, all as of one moment. */
export async function listHintHeads(
  reader: Reader,
  scopes: readonly HintScope[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.hintHead.findMany({ where: { scope: { in: [...scopes] } } });
  return new Map(rows.map(({ scope, seq }) => [scope, seq]));
}

/** Where what is told of one workspace ends. */
export async function findPlace(reader: Reader, workspaceId: WorkspaceId): Promise<Place> {
  const heads = await listHintHeads(reader, [workspaceId, everyWorkspace]);
  return { own: heads.get(workspaceId) ?? 0, all: heads.get(everyWorkspace) ?? 0 };
}

/** The hints behind `after` up to `to`, in order. */
export async function listHints(
  reader: Reader,
  { scope, after, to }: { scope: HintScope; after: number; to: number },
): Promise<StoredHint[]> {
  const where = { scope, seq: { gt: after, lte: to } };
  const rows = await reader.hint.findMany({ where, orderBy: { seq: 'asc' } });
  return rows.map(({ seq, type, ref, version }) => ({ seq, type: HintType.parse(type), ref, version }));
}

/** A count that stops at a thousand. */
const countedMax = 1_000;

/** How much was told of a scope since then. */
export async function countHints(reader: Reader, { scope, since }: { scope: HintScope; since: Date }): Promise<number> {
  const newest = { where: { scope }, orderBy: { seq: 'desc' }, take: countedMax } as const;
  const rows = await reader.hint.findMany({ ...newest, select: { createdAt: true } });
  return rows.filter(({ createdAt }) => createdAt >= since).length;
}

/** Removes hints so old that a page that missed them reads everything again. */
export async function forgetHints(tx: Tx, before: Date): Promise<void> {
  await tx.hint.deleteMany({ where: { createdAt: { lt: before } } });
}
