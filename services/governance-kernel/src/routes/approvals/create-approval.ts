import { createApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { askBeforehand } from '../../controls/approvals/ask-beforehand.ts';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import { declaredDemand } from '../../call/demand.ts';
import { meantBy } from '../../call/governed-call.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/** Requests the approval of one exact call. The caller is its requester, so another person must decide. */
export const createApprovalRoute = ({ cycle }: Context) =>
  handleTenant(createApproval)(async ({ body, caller }) => {
    const {
      session_id: session,
      args,
      context,
      effect_level: effectLevel,
      expires_in_seconds: expiresInSeconds,
    } = body;
    const { reason, quorum, approvers, scope, timelock_seconds: timelockSeconds } = body;
    const call = { ...meantBy(body), caller, session, args, context, effectLevel, demand: declaredDemand(body.demand) };
    const input = { reason, quorum, approvers, scope, timelockSeconds };
    const approval = await askBeforehand(cycle, { call, expiresInSeconds, ...input });
    return answer(201, approvalView(approval, cycle.clock().getTime()), etag(approval.ceremonyHash));
  });
