import { getActivePolicy } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { shadowsOf } from '../../shadows/shadow-view.ts';
import { getInForce } from '../../policy/in-force.ts';

export const getActivePolicyRoute = (context: Context) =>
  handleWorkspace(getActivePolicy)(async ({ caller: { workspaceId } }) => {
    const { tenant_id: workspace_id, next_epoch: _next, ...inForce } = await getInForce(context, workspaceId);
    const shadows = await shadowsOf(context, workspaceId);
    return answer(200, { workspace_id, ...inForce, shadows }, etag(inForce.policy_hash));
  });
