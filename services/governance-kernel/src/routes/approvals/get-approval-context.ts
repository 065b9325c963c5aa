import { getApprovalContext } from '@countersign/contracts/governance-kernel';
import { countSimilar } from '../../controls/approvals/similar-requests.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getApproval } from '../../store/approval-store.ts';
import { listSimilarApprovals } from '../../store/similar-approvals.ts';

export const getApprovalContextRoute = ({ reader, clock }: Context) =>
  handleTenant(getApprovalContext)(async ({ params: { approval_id }, caller: { tenant } }) => {
    const approval = await getApproval(reader, { tenant, id: approval_id });
    return { approval_id, similar: countSimilar(await listSimilarApprovals(reader, approval, clock())) };
  });
