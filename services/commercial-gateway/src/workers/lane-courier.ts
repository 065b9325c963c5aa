import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deliverLane } from '../runtime/deliver-lane.ts';
import { listDueRequests } from '../store/runtimes.ts';

const passMs = 1_000;
/** Requests per pass. Each takes one timeout while the gateway does not answer. */
const atOnce = 20;

/**
 * Delivers requested lanes that the gateway has not confirmed, such as after an outage of the gateway or a crash of
 * this process.
 */
export function startLaneCourier(context: Context, intervalMs = passMs): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('lane_courier.failed', { error });
  const passes = repeat({ run: () => deliverDue(context), intervalMs, clockGuard, onFailure });
  return { stop: passes.close };
}

async function deliverDue(context: Context): Promise<void> {
  const due = await context.database.transaction((tx) => listDueRequests(tx, context.now(), atOnce));
  await Promise.all(due.map((workspaceId) => deliverLane(context, workspaceId)));
}
