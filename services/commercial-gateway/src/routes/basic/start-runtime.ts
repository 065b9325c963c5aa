import { startRuntime } from '@countersign/contracts/commercial-gateway';
import { handleWorkspace } from '../../handle.ts';
import type { LaneDeps } from '../../runtime/deliver-lane.ts';
import { requestLane } from '../../runtime/request-lane.ts';

export const startRuntimeRoute = (deps: LaneDeps) =>
  handleWorkspace(startRuntime)(({ caller, requestId }) => requestLane(deps, { caller, lane: 'run', requestId }));
