import { isAppError, PrincipalId, startDeadline, type WorkspaceId } from '@countersign/contracts';
import { deleteShadowLane, PolicyBundle, putShadowLane, type LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { recordAudit } from '../store/audit.ts';
import { delayLane, findLane, noteStanding, removeLane, type StoredLane } from '../store/shadow-lanes.ts';

/** A kernel that was restored from an older backup receives its lanes again within this time. */
const repeatMs = 600_000;
const retryMs = 5_000;
/** The longest time that a person waits after setting a lane. */
const deliveryMs = 5_000;

type Delivering = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now' | 'log'>;
type Named = { workspaceId: WorkspaceId; lane: LaneName };

/**
 * Sends the terms of a lane to the kernel. Two deliveries may race, and the later terms may arrive first: the delivery
 * that finds the lane changed delivers again. If the kernel does not answer, a worker tries again.
 */
export async function deliverLane(context: Delivering, named: Named): Promise<void> {
  for (;;) {
    const lane = await findLane(context.database.reader, named);
    if (lane === null || (await isDelivered(context, lane))) return;
  }
}

async function isDelivered(context: Delivering, lane: StoredLane): Promise<boolean> {
  const { transaction, now } = context;
  try {
    await tell(context, lane);
  } catch (error) {
    if (isAppError(error) && (error.code === 'INVALID_REQUEST' || error.code === 'ILLEGAL_TRANSITION'))
      return await refuse(context, lane, error.message);
    context.log.warn('shadow_lane.undelivered', { workspace_id: lane.workspaceId, lane: lane.lane, error });
    await transaction((tx) => delayLane(tx, lane, new Date(now().getTime() + retryMs)));
    return true;
  }
  const next = new Date(now().getTime() + repeatMs);
  return await transaction((tx) => (lane.state === 'ending' ? removeLane(tx, lane) : noteStanding(tx, lane, next)));
}

async function tell({ kernel }: Delivering, { workspaceId, lane, ...stored }: StoredLane): Promise<void> {
  const client = kernel.own({ putShadowLane, deleteShadowLane });
  const input = { params: { tenant: tenantOf(workspaceId), lane }, signal: startDeadline({ ms: deliveryMs }).signal };
  if (stored.state === 'ending')
    return await client.deleteShadowLane(input).then(
      () => undefined,
      (error: unknown) => {
        if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
      },
    );
  const body = { bundle: PolicyBundle.parse(JSON.parse(stored.bundle)), set_by: PrincipalId.parse(stored.setBy) };
  await client.putShadowLane({ ...input, body });
}

/** Ends a lane that the kernel refuses for good. */
async function refuse({ transaction, now }: Delivering, lane: StoredLane, why: string): Promise<boolean> {
  const { workspaceId: scope, setBy: actor, policyHash: subject } = lane;
  return await transaction(async (tx) => {
    if (!(await removeLane(tx, lane))) return false;
    const act = { scope, action: 'policy.shadow_refused', actor, verdict: 'fail', subject } as const;
    await recordAudit(tx, { ...act, details: { lane: lane.lane, why } }, now());
    return true;
  });
}
