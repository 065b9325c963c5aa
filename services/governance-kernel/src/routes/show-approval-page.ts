import { showApprovalPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { withCountedVotes } from '../approvals/counted-votes.ts';
import { renderApproval } from '../approver-pages/render-approval.ts';
import { signInPage } from '../approver-pages/sign-in-page.ts';
import { viewerPasskeys } from '../approver-pages/viewer-passkeys.ts';
import type { Context } from '../context.ts';
import { getApproval } from '../store/approval-store.ts';
import { findApprovalTerms } from '../store/passkey-store.ts';

/** Strangers get one and the same form, whether the approval exists or not. */
export const showApprovalPageRoute = (kernel: Context) =>
  handlePublic(showApprovalPage, { rateLimit: 'page' })(async ({ params, req }) => {
    const session = await kernel.approverSessions.find(req.headers.cookie);
    if (session === null) return signInPage(params.approval_id);
    const row = await getApproval(kernel.reader, { tenant: session.key.tenant, id: params.approval_id });
    const terms = await findApprovalTerms(kernel.reader, row.tenant);
    return renderApproval(kernel, session, {
      row: withCountedVotes(row, terms),
      passkeys: await viewerPasskeys(kernel.passkeys, session.key, terms),
    });
  });
