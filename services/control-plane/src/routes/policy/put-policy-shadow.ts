import { AppError } from '@countersign/contracts';
import { putPolicyShadow } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { setShadow } from '../../shadows/set-shadow.ts';
import { shadowView } from '../../shadows/shadow-view.ts';
import { findLane } from '../../store/shadow-lanes.ts';

export const putPolicyShadowRoute = (context: Context) =>
  handleWorkspace(putPolicyShadow)(async ({ params, body: { text }, caller, requestId, signal }) => {
    const { workspaceId } = caller;
    const lane = LaneName.safeParse(params.lane).data;
    if (lane === undefined)
      throw new AppError(
        'INVALID_REQUEST',
        'lane must have 1 to 32 lowercase letters, digits or -, and must not begin with -',
        { param: 'lane' },
      );
    await setShadow(context, { lane, text, requestId, signal }, caller);
    const set = await findLane(context.database.reader, { workspaceId, lane });
    if (set === null)
      throw new AppError(
        'ILLEGAL_TRANSITION',
        'The shadow lane no longer exists. The kernel refused its bundle, or it was ended',
      );
    return await shadowView(context, set);
  });
