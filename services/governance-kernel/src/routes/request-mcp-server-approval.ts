import { requestMcpServerApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../approvals/approval-view.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { requestServerApproval } from '../server-registry/request-approval.ts';

/** Asks the approvers of the tenant to approve one of its servers. */
export const requestMcpServerApprovalRoute = ({ registryDesk: desk, cycle, clock }: Context) =>
  handleTenant(requestMcpServerApproval)(async ({ params, body, caller }) => {
    const { definitions_hash: definitionsHash, reason } = body;
    const request = { caller, serverId: params.server_id, definitionsHash, reason };
    const approval = await requestServerApproval({ desk, cycle }, request);
    return answer(201, approvalView(approval, clock().getTime()), etag(approval.ceremonyHash));
  });
