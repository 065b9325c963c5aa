import { deletePolicyShadow } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { endShadow } from '../../shadows/end-shadow.ts';
import { shadowView } from '../../shadows/shadow-view.ts';
import { knownId } from '../../siblings/known-id.ts';

export const deletePolicyShadowRoute = (context: Context) =>
  handleWorkspace(deletePolicyShadow)(async ({ params, caller, requestId }) =>
    shadowView(context, await endShadow(context, { lane: knownId(LaneName, params.lane), requestId }, caller)),
  );
