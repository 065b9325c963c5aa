import { challengeOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { beginVote } from '../../controls/approvals/passkey-vote.ts';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { challengeMs } from '../../controls/passkeys/challenges.ts';
import { getCountedApproval } from '../../store/approval-store.ts';

/** The passkey signs the displayed state. A different one is refused before the person signs. */
export const challengeOnPageRoute = (kernel: Context) =>
  handlePublic(challengeOnPage, { rateLimit: 'page' })(async ({ params: { approval_id: id }, body, req }) => {
    const { ceremony_hash: ceremonyHash, csrf_token: token, decision, reason } = body;
    const form = { id, action: 'decide', ceremonyHash } as const;
    const { key } = await requireSession(kernel.approverSessions, req, { form, token });
    const counted = await getCountedApproval(kernel.reader, { tenant: key.tenant, id });
    const question = { ...counted, by: key.principal, asserted: null, decision, reason, ttlMs: challengeMs };
    const answer = await beginVote(kernel.passkeys, { ...question, expectedCeremonyHash: ceremonyHash });
    return { challenge_id: answer.id, options: answer.options };
  });
