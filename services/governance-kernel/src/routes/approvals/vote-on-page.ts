import { isAppError } from '@countersign/contracts';
import { voteOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic, seeOther } from '@countersign/service-kit';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import { renderApproval } from '../../doors/approver-pages/render-approval.ts';
import { requireOwnPage } from '../../doors/approver-pages/same-origin.ts';
import { signInPage } from '../../doors/approver-pages/sign-in-page.ts';
import { viewerPasskeys } from '../../doors/approver-pages/viewer-passkeys.ts';
import type { Context } from '../../context.ts';
import { getApproval, getCountedApproval } from '../../store/approval-store.ts';

/** The form contains the displayed state, and cannot decide about a different one. */
export const voteOnPageRoute = (kernel: Context) =>
  handlePublic(voteOnPage, { rateLimit: 'page' })(async ({ params, body, req }) => {
    requireOwnPage(req);
    const id = params.approval_id;
    const session = await kernel.approverSessions.find(req.headers.cookie);
    if (session === null) return signInPage(id, 'ended');
    const { decision, ceremony_hash: ceremonyHash, csrf_token: token } = body;
    kernel.approverSessions.requireForm(session, { id, action: 'decide', ceremonyHash }, token);
    const { tenant, principal, id: accessKey } = session.key;
    const before = await getApproval(kernel.reader, { tenant, id });
    try {
      await moveApproval(kernel, {
        ...{ tenant, id, session: before.session, approvedBy: before.approvedBy, action: decision, by: principal },
        accessKey,
        expectedCeremonyHash: ceremonyHash,
        reason: body.reason.trim() || undefined,
        credential: { kind: 'access_key', id: accessKey },
        asserted: null,
        evidence: { credential: 'access_key', key_id: accessKey },
      });
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (error.code === 'CREDENTIALS_INVALID') return signInPage(id, 'ended');
      const text = notices[error.code]?.(error.message);
      if (text === undefined) throw error;
      const { approval, electorate } = await getCountedApproval(kernel.reader, { tenant, id });
      const passkeys = await viewerPasskeys(kernel.passkeys, session.key, electorate.terms);
      return renderApproval(kernel, session, {
        ...{ row: approval, electorate, passkeys },
        notice: { text, status: error.status },
      });
    }
    return seeOther(`/approvals/${id}`);
  });

/** Refusals after which the person is shown the approval again. */
const notices: Readonly<Record<string, (message: string) => string>> = {
  PRECONDITION_FAILED: () =>
    'The approval changed after this page was shown, so your decision was not recorded. This is its current state.',
  ILLEGAL_TRANSITION: (message) => `Your decision was not recorded. ${message}.`,
  PASSKEY_REQUIRED: (message) => `Your decision was not recorded. ${message}.`,
  PERMISSION_DENIED: (message) => `Your decision was not recorded. ${message}.`,
};
