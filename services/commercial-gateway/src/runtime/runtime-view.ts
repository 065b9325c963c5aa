import { instantOf, type WorkspaceId } from '@countersign/contracts';
import type { Runtime } from '@countersign/contracts/commercial-gateway';
import type { Lane } from '@countersign/contracts/gateway';
import type { StoredRuntime } from '../store/runtimes.ts';

type Basis = {
  /** The last request. `null` when no lane was ever requested. */
  request: StoredRuntime | null;
  /** The lane at the gateway. `null` while the gateway has not confirmed the request. */
  atGateway: Lane | null;
};

export function runtimeView(workspaceId: WorkspaceId, { request, atGateway }: Basis): Runtime {
  return {
    workspace_id: workspaceId,
    state: stateOf({ request, atGateway }),
    failure: request?.failure ?? null,
    running_runs: atGateway?.running ?? null,
    queued_runs: atGateway?.queued ?? null,
    changed_by: request?.changedBy ?? null,
    changed_at: request === null ? null : instantOf(request.changedAt),
  };
}

function stateOf({ request, atGateway }: Basis): Runtime['state'] {
  if (request !== null && request.failure !== null) return 'failed';
  const lane = request?.lane ?? atGateway?.lane ?? 'run';
  if (atGateway === null) return lane === 'run' ? 'starting' : 'stopping';
  if (lane === 'run') return 'running';
  return atGateway.running > 0 ? 'stopping' : 'stopped';
}
