import type { Lane, LaneState } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { recordAudit } from '../store/audit.ts';
import { findLane, setLane } from '../store/lanes.ts';
import { bringBackFreed } from './bring-back-freed.ts';

type Deps = Pick<Context, 'config' | 'newEvent' | 'now' | 'databaseNow' | 'transaction'>;

type Request = { workspaceId: string; lane: LaneState; version: number; by: string; requestId: string };

/** Sets the lane, and creates jobs for the runs that waited for it. Throws NOT_FOUND. */
export async function putLane(context: Deps, request: Request): Promise<Lane> {
  const { workspaceId, lane, version, by: actor, requestId } = request;
  const stored = await context.transaction(async (tx) => {
    if ((await setLane(tx, { workspaceId, lane, version })) === true) {
      const entry = { workspaceId, action: `lane.${lane}`, actor, verdict: 'allow', requestId } as const;
      await recordAudit(tx, { ...entry, subject: workspaceId, details: { version } }, context.now());
    }
    return await findLane(tx, workspaceId);
  });
  if (stored === null) throw notFound();
  // After a crash before this line, the next sweep creates the jobs.
  if (stored.lane === 'run') await bringBackFreed(context);
  return stored;
}
