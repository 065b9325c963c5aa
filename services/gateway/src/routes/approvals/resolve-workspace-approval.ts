import { resolveWorkspaceApproval } from '@countersign/contracts/gateway';
import { resolveApproval } from '../../approvals/resolve-approval.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const resolveWorkspaceApprovalRoute = (context: Context) =>
  handleWorkspace(resolveWorkspaceApproval)(async ({ params, body, caller, requestId }) => {
    const { user, ...membership } = caller;
    const resolver = user.id;
    const { status, reason } = body;
    return resolveApproval(context, { approvalId: params.id, status, reason, resolver, membership, requestId });
  });
