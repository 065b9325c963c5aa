import { putLane } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import * as lanes from '../../lanes/put-lane.ts';

export const putLaneRoute = (context: Context) =>
  handleSibling(putLane)(({ params: { workspace_id: workspaceId }, body, requestId }) =>
    lanes.putLane(context, { workspaceId, ...body, requestId }),
  );
