import { isAppError } from '@countersign/contracts';
import { signInApprover } from '@countersign/contracts/governance-kernel';
import { handlePublic, seeOther } from '@countersign/service-kit';
import { requireOwnPage } from '../../doors/approver-pages/same-origin.ts';
import { signInPage } from '../../doors/approver-pages/sign-in-page.ts';
import type { Context } from '../../context.ts';

/** Gives the same answer for every key that is not a live approver key. */
export const signInApproverRoute = ({ approverSessions }: Context) =>
  handlePublic(signInApprover, { rateLimit: 'auth' })(async ({ body, req }) => {
    requireOwnPage(req);
    const id = body.approval_id ?? null;
    try {
      const cookie = await approverSessions.open(body.key);
      return seeOther(`/approvals/${id ?? 'passkeys'}`, { 'set-cookie': cookie });
    } catch (error) {
      if (isAppError(error) && error.code === 'CREDENTIALS_INVALID') return signInPage(id, 'refused');
      throw error;
    }
  });
