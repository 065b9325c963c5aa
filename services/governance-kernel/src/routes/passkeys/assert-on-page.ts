import { assertOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import { readVote } from '../../controls/approvals/passkey-vote.ts';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { getApproval } from '../../store/approval-store.ts';

/** The vote of a person with a passkey. The session's key must be valid as well. */
export const assertOnPageRoute = (kernel: Context) =>
  handlePublic(assertOnPage, { rateLimit: 'page' })(async ({ params: { approval_id: id }, body, req }) => {
    const { ceremony_hash: ceremonyHash, csrf_token: token, challenge_id: challengeId, assertion } = body;
    const form = { id, action: 'decide', ceremonyHash } as const;
    const { key } = await requireSession(kernel.approverSessions, req, { form, token });
    const { tenant, principal: by, id: accessKey } = key;
    const { session, approvedBy } = await getApproval(kernel.reader, { tenant, id });
    const vote = await readVote(kernel.passkeys, { tenant, by, id, challengeId, assertion });
    const { state } = await moveApproval(kernel, {
      ...{ tenant, id, session, approvedBy, by, accessKey },
      action: vote.statement.decision,
      expectedCeremonyHash: vote.statement.ceremony_hash,
      reason: vote.statement.reason ?? (body.reason.trim() || undefined),
      credential: { kind: 'passkey', id: vote.use.id },
      asserted: null,
      evidence: vote.evidence,
      passkey: vote.use,
    });
    return { state };
  });
