import { stopRuntime } from '@countersign/contracts/commercial-gateway';
import { handleWorkspace } from '../../handle.ts';
import type { LaneDeps } from '../../runtime/deliver-lane.ts';
import { requestLane } from '../../runtime/request-lane.ts';

export const stopRuntimeRoute = (deps: LaneDeps) =>
  handleWorkspace(stopRuntime)(({ caller, requestId }) => requestLane(deps, { caller, lane: 'hold', requestId }));
