import { showApprovalPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { renderApproval } from '../../doors/approver-pages/render-approval.ts';
import { signInPage } from '../../doors/approver-pages/sign-in-page.ts';
import { viewerPasskeys } from '../../doors/approver-pages/viewer-passkeys.ts';
import type { Context } from '../../context.ts';
import { getCountedApproval } from '../../store/approval-store.ts';

/** Visitors without a session get the same form, whether the approval exists or not. */
export const showApprovalPageRoute = (kernel: Context) =>
  handlePublic(showApprovalPage, { rateLimit: 'page' })(async ({ params, req }) => {
    const session = await kernel.approverSessions.find(req.headers.cookie);
    if (session === null) return signInPage(params.approval_id);
    const { tenant } = session.key;
    const { approval, electorate } = await getCountedApproval(kernel.reader, { tenant, id: params.approval_id });
    return renderApproval(kernel, session, {
      ...{ row: approval, electorate },
      passkeys: await viewerPasskeys(kernel.passkeys, session.key, electorate.terms),
    });
  });
