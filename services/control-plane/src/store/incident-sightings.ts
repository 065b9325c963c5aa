import type { WorkspaceId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';

/** One thing that was seen of what a key names. */
type Sighting = { dedupKey: string; sighting: string };

/** False: it was seen before, by whomever. */
export async function recordSighting(
  tx: Tx,
  workspaceId: WorkspaceId,
  { dedupKey, sighting }: Sighting,
  now: Date,
): Promise<boolean> {
  const data = { workspaceId, dedupKey, sighting, seenAt: now };
  return (await tx.incidentSighting.createMany({ data, skipDuplicates: true })).count === 1;
}

/** In which of these workspaces it was seen. */
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
