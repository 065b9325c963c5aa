import { AppError } from '@countersign/contracts';
import { assertApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../approvals/approval-view.ts';
import { moveApproval } from '../approvals/move-approval.ts';
import { readVote } from '../approvals/passkey-vote.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { getApproval } from '../store/approval-store.ts';
import { passkeysAt } from '../passkeys/relying-party.ts';
import { awaitMembers } from '../store/member-store.ts';

/** The signed decision is the one that counts: the request has none of its own. */
export const assertApprovalRoute = (kernel: Context) =>
  handleTenant(assertApproval)(async ({ params: { approval_id: id }, body, caller }) => {
    const { tenant, principal: by } = caller;
    await awaitMembers(kernel.reader, caller);
    const { session, approvedBy } = await getApproval(kernel.reader, { tenant, id });
    const { challenge_id: challengeId, assertion, reason, decision } = body;
    const vote = await readVote(passkeysAt(kernel.passkeys, caller), { tenant, by, id, challengeId, assertion });
    if (decision !== undefined && decision !== vote.statement.decision)
      throw new AppError('PRECONDITION_FAILED', 'The passkey signed another decision', { param: 'decision' });
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
