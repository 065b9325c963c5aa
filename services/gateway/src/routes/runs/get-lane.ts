import { getLane } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleSibling } from '../../handle.ts';
import { findLane } from '../../store/lanes.ts';

export const getLaneRoute = ({ database: { reader } }: Pick<Context, 'database'>) =>
  handleSibling(getLane)(async ({ params: { workspace_id: workspaceId } }) => {
    const lane = await findLane(reader, workspaceId);
    if (lane === null) throw notFound();
    return lane;
  });
