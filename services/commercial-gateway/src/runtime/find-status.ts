import type { WorkspaceId } from '@countersign/contracts';
import type { Runtime } from '@countersign/contracts/commercial-gateway';
import { answerOf } from '../siblings/answer-of.ts';
import { findRuntime, unconfirmRequest } from '../store/runtimes.ts';
import type { LaneDeps } from './deliver-lane.ts';
import { runtimeView } from './runtime-view.ts';

/**
 * Returns the state of the runtime. The state at the gateway applies when no lane was requested or the last request is
 * confirmed. Throws GATEWAY_UNAVAILABLE.
 */
export async function findStatus(deps: LaneDeps, workspaceId: WorkspaceId): Promise<Runtime> {
  const request = await findRuntime(deps.database.reader, workspaceId);
  const isUnconfirmed = request !== null && request.confirmedVersion < request.version;
  if (isUnconfirmed) return runtimeView(workspaceId, { request, atGateway: null });
  const atGateway = await answerOf('gateway', () => deps.lanes.getLane({ params: { workspace_id: workspaceId } }));
  if (request !== null && atGateway.version < request.version) {
    await deps.transaction((tx) => unconfirmRequest(tx, request, deps.now()));
    return runtimeView(workspaceId, { request, atGateway: null });
  }
  return runtimeView(workspaceId, { request, atGateway });
}
