import { challengeVoucherOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { beginVoucher } from '../../controls/passkeys/vouch.ts';

export const challengeVoucherOnPageRoute = ({ approverSessions, passkeys }: Context) =>
  handlePublic(challengeVoucherOnPage, { rateLimit: 'page' })(async ({ body, req }) => {
    const { principal_id: principal, credential_id: id, csrf_token: token } = body;
    const form = { action: 'vouch', principal, credential: id } as const;
    const { key } = await requireSession(approverSessions, req, { form, token });
    const { options } = await beginVoucher(passkeys, { tenant: key.tenant, by: key.principal, principal, id });
    return { options };
  });
