import { resolveApproval } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import { castVote } from '../../approvals/cast-vote.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const resolveApprovalRoute = (context: Context) =>
  handleWorkspace(resolveApproval)(async ({ params: { approval_id: id }, body, caller, req }) => {
    const approval = await castVote(context, { id, ...body, ifMatch: req.headers['if-match'] }, caller);
    return answer(200, approval, etag(approval.ceremony_hash));
  });
