import { deleteShadowLane } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { laneView } from '../../controls/policy/lane-view.ts';
import { endShadowLane } from '../../controls/policy/set-shadow-lane.ts';

export const deleteShadowLaneRoute = (kernel: Context) =>
  handleSystem(deleteShadowLane)(async ({ params, caller }) =>
    laneView(params.tenant, await endShadowLane(kernel, { ...params, by: caller.principal })),
  );
