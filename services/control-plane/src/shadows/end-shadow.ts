import { AppError } from '@countersign/contracts';
import type { LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { endLane, findLane, lockLanes, type StoredLane } from '../store/shadow-lanes.ts';
import { deliverLane } from './deliver-lane.ts';

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;

type Input = { lane: LaneName; requestId: string };

/** Ends a lane, and returns its state before the end. Throws NOT_FOUND. */
export async function endShadow(
  context: Deps,
  { lane, requestId }: Input,
  { workspaceId, userId: actor }: WorkspaceCaller,
): Promise<StoredLane> {
  const now = context.now();
  const was = await context.transaction(async (tx) => {
    const existing = await findLane(tx, { workspaceId, lane });
    if (existing === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    await lockLanes(tx, workspaceId, { place: 0, now });
    const current = await findLane(tx, { workspaceId, lane });
    if (current === null || current.state === 'ending')
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    await endLane(tx, current, now);
    const act = { action: 'policy.shadow_ended', actor, verdict: 'allow', subject: current.policyHash } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, details: { lane }, requestId }, now);
    return current;
  });
  await deliverLane(context, { workspaceId, lane });
  return was;
}
