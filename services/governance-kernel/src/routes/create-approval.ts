import { createApproval } from '@countersign/contracts/governance-kernel';
import { answer } from '@countersign/service-kit';
import { askBeforehand } from '../approvals/ask-beforehand.ts';
import { approvalView } from '../approvals/approval-view.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { etag } from '../if-match.ts';

/** Asks for the approval of one exact call. The caller is its requester, so somebody else must decide it. */
export const createApprovalRoute = ({ ledger, cycle, clock, newUlid }: Context) =>
  handleTenant(createApproval)(async ({ body, caller }) => {
    const { session_id: session, tool = null, resource = null, expires_in_seconds: expiresInSeconds, ...rest } = body;
    const parts = { ledger, hasher: cycle.hasher, clock, newUlid };
    const approval = await askBeforehand(parts, { ...rest, caller, session, tool, resource, expiresInSeconds });
    return answer(201, approvalView(approval, clock().getTime()), etag(approval.ceremonyHash));
  });
