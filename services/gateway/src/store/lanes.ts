import { laneCountMax, LaneState, type Lane } from '@countersign/contracts/gateway';
import type { Reader, Tx } from './database.ts';
import { lockRunChoice } from './due-runs.ts';

type NewLane = { workspaceId: string; lane: LaneState; version: number };

/**
 * Sets the lane, unless its version is that of the request or later. Workers choose runs under the same lock, so no
 * queued run is leased after a hold is committed. `false` when nothing changed.
 */
export async function setLane(tx: Tx, { workspaceId, lane, version }: NewLane): Promise<boolean> {
  await lockRunChoice(tx);
  const where = { id: workspaceId, laneVersion: { lt: version } };
  const { count } = await tx.workspace.updateMany({ where, data: { lane, laneVersion: version } });
  return count === 1;
}

/** The lane of a workspace, with limited counts of its running and queued runs. `null` for an unknown workspace. */
export async function findLane(reader: Reader, workspaceId: string): Promise<Lane | null> {
  const row = await reader.workspace.findUnique({
    where: { id: workspaceId },
    select: { lane: true, laneVersion: true },
  });
  if (row === null) return null;
  const count = (status: string) => reader.run.count({ where: { workspaceId, status }, take: laneCountMax });
  const [running, queued] = [await count('running'), await count('queued')];
  return { lane: LaneState.parse(row.lane), version: row.laneVersion, running, queued };
}

/** Whether running runs of the workspace may begin no further step. */
export async function isHeld(reader: Reader, workspaceId: string): Promise<boolean> {
  return (await reader.workspace.count({ where: { id: workspaceId, lane: 'hold' } })) === 1;
}
