import { putShadowLane } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { laneView } from '../policy/lane-view.ts';
import { setShadowLane } from '../policy/set-shadow-lane.ts';

/** Has a draft judged beside the active policy of a tenant. */
export const putShadowLaneRoute = (kernel: Context) =>
  handleSystem(putShadowLane)(async ({ params, body: { bundle, set_by: by } }) =>
    laneView(params.tenant, await setShadowLane(kernel, { ...params, bundle, by })),
  );
