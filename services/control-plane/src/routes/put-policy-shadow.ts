import { AppError } from '@countersign/contracts';
import { putPolicyShadow } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { setShadow } from '../shadows/set-shadow.ts';
import { shadowView } from '../shadows/shadow-view.ts';
import { findLane } from '../store/shadow-lanes.ts';

export const putPolicyShadowRoute = (context: Context) =>
  handleWorkspace(putPolicyShadow)(async ({ params, body: { text }, caller, requestId, signal }) => {
    const { workspaceId } = caller;
    const lane = LaneName.safeParse(params.lane).data;
    if (lane === undefined)
      throw new AppError('INVALID_REQUEST', 'A lane has a name of small letters, digits and -', { param: 'lane' });
    await setShadow(context, { lane, text, requestId, signal }, caller);
    const set = await findLane(context.database.reader, { workspaceId, lane });
    if (set === null) throw new AppError('ILLEGAL_TRANSITION', 'The kernel does not judge this bundle');
    return await shadowView(context, set);
  });
