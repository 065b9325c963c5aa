import { WorkspaceId, type Digest } from '@countersign/contracts';
import type { LaneName } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

/** The verdicts of a draft in the decisions of one hour. */
export type LaneHour = {
  lane: LaneName;
  policyHash: Digest;
  hour: Date;
  decisions: number;
  diverged: number;
  widened: number;
  faults: number;
};

type Reading = { workspaceId: WorkspaceId; place: number };

/** Workspaces with lanes whose records were read before then, least recently read first. */
export async function listReadings(reader: Reader, before: Date, limit: number): Promise<Reading[]> {
  const where = { readAt: { lt: before } };
  const rows = await reader.shadowReading.findMany({ where, orderBy: { readAt: 'asc' }, take: limit });
  return rows.map(({ workspaceId, place }) => ({ workspaceId: WorkspaceId.parse(workspaceId), place }));
}

/**
 * Commits counts together with the place up to which they go, so every record counts once. `false` when another
 * process was first.
 */
export async function noteRead(
  tx: Tx,
  { workspaceId, place }: Reading,
  { hours, next, now }: { hours: readonly LaneHour[]; next: number; now: Date },
): Promise<boolean> {
  const moved = { place: next, readAt: now };
  if ((await tx.shadowReading.updateMany({ where: { workspaceId, place }, data: moved })).count === 0) return false;
  for (const hour of hours) await addHour(tx, workspaceId, hour);
  return true;
}

/** A lane that was removed or has another bundle is not counted. */
async function addHour(tx: Tx, workspaceId: WorkspaceId, counted: LaneHour): Promise<void> {
  const { lane, policyHash, hour, decisions, diverged, widened, faults } = counted;
  await tx.$executeRaw`
    INSERT INTO shadow_hours AS h (workspace_id, lane, policy_hash, hour, decisions, diverged, widened, faults)
    SELECT workspace_id, lane, policy_hash, ${hour}, ${decisions}::int, ${diverged}::int, ${widened}::int, ${faults}::int
      FROM shadow_lanes WHERE workspace_id = ${workspaceId} AND lane = ${lane} AND policy_hash = ${policyHash}
    ON CONFLICT (workspace_id, lane, policy_hash, hour) DO UPDATE SET
      decisions = h.decisions + excluded.decisions, diverged = h.diverged + excluded.diverged,
      widened = h.widened + excluded.widened, faults = h.faults + excluded.faults`;
}

type OfLane = { workspaceId: WorkspaceId; lane: LaneName; policyHash: Digest };

/** Newest first. */
export async function listHours(
  reader: Reader,
  { workspaceId, lane, policyHash }: OfLane,
  since: Date,
): Promise<Omit<LaneHour, 'lane' | 'policyHash'>[]> {
  const where = { workspaceId, lane, policyHash, hour: { gte: since } };
  return await reader.shadowHour.findMany({ where, orderBy: { hour: 'desc' } });
}

export async function forgetHours(tx: Tx, before: Date): Promise<void> {
  await tx.shadowHour.deleteMany({ where: { hour: { lt: before } } });
}
