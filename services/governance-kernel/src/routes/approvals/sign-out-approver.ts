import { signOutApprover } from '@countersign/contracts/governance-kernel';
import { handlePublic, seeOther } from '@countersign/service-kit';
import { requireOwnPage } from '../../doors/approver-pages/same-origin.ts';
import type { Context } from '../../context.ts';

/** Removes the cookie of the browser. A request that another site sends is refused. */
export const signOutApproverRoute = ({ approverSessions }: Context) =>
  handlePublic(signOutApprover, { rateLimit: 'page' })(async ({ body, req }) => {
    requireOwnPage(req);
    const id = body.approval_id ?? null;
    const session = await approverSessions.find(req.headers.cookie);
    if (session !== null) approverSessions.requireForm(session, { id, action: 'sign-out' }, body.csrf_token);
    return seeOther(`/approvals/${id ?? 'passkeys'}`, { 'set-cookie': approverSessions.endedCookie });
  });
