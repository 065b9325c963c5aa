import type { WorkspaceId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';

/** One sighting of the cause that a key names. */
type Sighting = { dedupKey: string; sighting: string };

/** `false` when the sighting was recorded before, by any process. */
export async function recordSighting(
  tx: Tx,
  workspaceId: WorkspaceId,
  { dedupKey, sighting }: Sighting,
  now: Date,
): Promise<boolean> {
  const data = { workspaceId, dedupKey, sighting, seenAt: now };
  return (await tx.incidentSighting.createMany({ data, skipDuplicates: true })).count === 1;
}

/** The workspaces among these in which this sighting was recorded. */
export async function findSighted(
  reader: Reader,
  workspaceIds: readonly WorkspaceId[],
  { dedupKey, sighting }: Sighting,
): Promise<ReadonlySet<string>> {
  const where = { workspaceId: { in: [...workspaceIds] }, dedupKey, sighting };
  const rows = await reader.incidentSighting.findMany({ where, select: { workspaceId: true } });
  return new Set(rows.map(({ workspaceId }) => workspaceId));
}

export async function forgetSightings(tx: Tx, before: Date): Promise<void> {
  await tx.incidentSighting.deleteMany({ where: { seenAt: { lt: before } } });
}
