import { withdrawApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import * as ending from '../../controls/approvals/end-approval.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getApproval } from '../../store/approval-store.ts';

/** Withdraws an approval, for a requester who no longer needs the call. */
export const withdrawApprovalRoute = (kernel: Context) =>
  handleTenant(withdrawApproval)(async ({ params: { approval_id: id }, body: { reason }, caller }) => {
    const { tenant, principal: by, assertion } = caller;
    const { session } = await getApproval(kernel.reader, { tenant, id });
    const evidence: Record<string, string> =
      assertion === undefined
        ? { credential: 'operator_bearer' }
        : { credential: 'assertion', key_id: assertion.keyId, role: assertion.role };
    const isProven = assertion !== undefined;
    const ended = await ending.withdrawApproval(kernel, { tenant, id, session, by, reason, isProven, evidence });
    return answer(200, approvalView(ended, kernel.clock().getTime()), etag(ended.ceremonyHash));
  });
