import type { Lane, LaneState } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { bringBackFreed } from '../orchestrator/work-on-run.ts';
import { recordAudit } from '../store/audit.ts';
import { findLane, setLane } from '../store/lanes.ts';

type Request = { workspaceId: string; lane: LaneState; version: number; by: string; requestId: string };

/** Sets the lane, and makes jobs for the runs that waited for it. Throws NOT_FOUND. */
export async function putLane(context: Context, request: Request): Promise<Lane> {
  const { workspaceId, lane, version, by: actor, requestId } = request;
  const stored = await context.transaction(async (tx) => {
    if ((await setLane(tx, { workspaceId, lane, version })) === true) {
      const entry = { workspaceId, action: `lane.${lane}`, actor, verdict: 'allow', requestId } as const;
      await recordAudit(tx, { ...entry, subject: workspaceId, details: { version } }, context.now());
    }
    return await findLane(tx, workspaceId);
  });
  if (stored === null) throw notFound();
  // A crash before this leaves the runs to the next sweep.
  if (stored.lane === 'run') await bringBackFreed(context);
  return stored;
}
