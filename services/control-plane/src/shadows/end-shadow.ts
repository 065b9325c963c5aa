import { AppError } from '@countersign/contracts';
import type { LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { endLane, findLane, lockLanes, type StoredLane } from '../store/shadow-lanes.ts';
import { deliverLane } from './deliver-lane.ts';

type Asked = { lane: LaneName; requestId: string };

/** Throws NOT_FOUND. Answers with the lane as it was. */
export async function endShadow(
  context: Context,
  { lane, requestId }: Asked,
  { workspaceId, userId: actor }: WorkspaceCaller,
): Promise<StoredLane> {
  const now = context.now();
  const was = await context.transaction(async (tx) => {
    const known = await findLane(tx, { workspaceId, lane });
    if (known === null) throw new AppError('NOT_FOUND', 'There is no such object');
    await lockLanes(tx, workspaceId, { place: 0, now });
    const standing = await findLane(tx, { workspaceId, lane });
    if (standing === null || standing.state === 'ending') throw new AppError('NOT_FOUND', 'There is no such object');
    await endLane(tx, standing, now);
    const act = { action: 'policy.shadow_ended', actor, verdict: 'allow', subject: standing.policyHash } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, details: { lane }, requestId }, now);
    return standing;
  });
  await deliverLane(context, { workspaceId, lane });
  return was;
}
