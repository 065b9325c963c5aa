import { AppError } from '@countersign/contracts';
import { assertApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import { readVote } from '../../controls/approvals/passkey-vote.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getApproval } from '../../store/approval-store.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';
import { awaitMembers } from '../../store/member-store.ts';

/**
 * The passkey signed a decision, and only that decision counts. The request may repeat it, but must not contradict it.
 */
export const assertApprovalRoute = (kernel: Context) =>
  handleTenant(assertApproval)(async ({ params: { approval_id: id }, body, caller }) => {
    const { tenant, principal: by } = caller;
    await awaitMembers(kernel.reader, caller);
    const { session, approvedBy } = await getApproval(kernel.reader, { tenant, id });
    const { challenge_id: challengeId, assertion, reason, decision } = body;
    const vote = await readVote(passkeysAt(kernel.passkeys, caller), { tenant, by, id, challengeId, assertion });
    if (decision !== undefined && decision !== vote.statement.decision)
      throw new AppError(
        'PRECONDITION_FAILED',
        'decision differs from the decision that the passkey signed. Send the signed one',
        {
          param: 'decision',
        },
      );
    const moved = await moveApproval(kernel, {
      ...{ tenant, id, session, approvedBy, by },
      reason: vote.statement.reason ?? reason,
      action: vote.statement.decision,
      expectedCeremonyHash: vote.statement.ceremony_hash,
      credential: { kind: 'passkey', id: vote.use.id },
      asserted: caller.assertion ?? null,
      evidence: vote.evidence,
      passkey: vote.use,
    });
    return answer(200, approvalView(moved, kernel.clock().getTime()), etag(moved.ceremonyHash));
  });
