import { putShadowLane } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { laneView } from '../../controls/policy/lane-view.ts';
import { setShadowLane } from '../../controls/policy/set-shadow-lane.ts';

/** Sets a draft that is evaluated beside the active policy of a tenant. */
export const putShadowLaneRoute = (kernel: Context) =>
  handleSystem(putShadowLane)(async ({ params, body: { bundle, set_by: by } }) =>
    laneView(params.tenant, await setShadowLane(kernel, { ...params, bundle, by })),
  );
