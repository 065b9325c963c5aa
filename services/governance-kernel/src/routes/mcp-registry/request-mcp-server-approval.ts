import { requestMcpServerApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { requestServerApproval } from '../../doors/server-registry/request-approval.ts';

/** Requests an approval of one of the tenant's servers. */
export const requestMcpServerApprovalRoute = ({ registryDesk: desk, cycle, clock }: Context) =>
  handleTenant(requestMcpServerApproval)(async ({ params, body, caller }) => {
    const { definitions_hash: definitionsHash, reason, expires_at: expiresAt } = body;
    const request = { caller, serverId: params.server_id, definitionsHash, reason, expiresAt };
    const approval = await requestServerApproval({ desk, cycle }, request);
    return answer(201, approvalView(approval, clock().getTime()), etag(approval.ceremonyHash));
  });
