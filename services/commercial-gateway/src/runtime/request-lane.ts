import type { Runtime } from '@countersign/contracts/commercial-gateway';
import type { LaneState } from '@countersign/contracts/gateway';
import { orgOfCaller } from '../basic/org-of-caller.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { findRuntime, writeRequest } from '../store/runtimes.ts';
import { deliverLane, type LaneDeps } from './deliver-lane.ts';
import { runtimeView } from './runtime-view.ts';

type Request = { caller: WorkspaceCaller; lane: LaneState; requestId: string };

/**
 * Stores the request, then tries to deliver it. When the gateway does not answer, the courier delivers the request
 * later.
 */
export async function requestLane(deps: LaneDeps, { caller, lane, requestId }: Request): Promise<Runtime> {
  const { workspaceId, actor } = caller;
  const orgId = await orgOfCaller(deps.database.reader, caller);
  const now = deps.now();
  await deps.transaction(async (tx) => {
    if (!(await writeRequest(tx, { workspaceId, orgId, lane, changedBy: actor }, now))) return;
    const action = lane === 'run' ? 'runtime.start' : 'runtime.stop';
    await recordAudit(tx, { scope: orgId, action, actor, verdict: 'allow', subject: workspaceId, requestId }, now);
  });
  const atGateway = await deliverLane(deps, workspaceId);
  return runtimeView(workspaceId, { request: await findRuntime(deps.database.reader, workspaceId), atGateway });
}
