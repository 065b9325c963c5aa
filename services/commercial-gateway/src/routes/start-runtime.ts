import { startRuntime } from '@countersign/contracts/commercial-gateway';
import { handleBasic } from '../handle.ts';
import type { LaneDeps } from '../runtime/deliver-lane.ts';
import { requestLane } from '../runtime/request-lane.ts';

export const startRuntimeRoute = (deps: LaneDeps) =>
  handleBasic(startRuntime)(({ caller, requestId }) => requestLane(deps, { caller, lane: 'run', requestId }));
