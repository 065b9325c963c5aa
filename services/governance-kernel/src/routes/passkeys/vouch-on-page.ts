import { vouchOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { stateOf } from '../../controls/passkeys/passkeys.ts';
import { endVoucher } from '../../controls/passkeys/vouch.ts';

/** The confirming person signs for the passkey in the form. */
export const vouchOnPageRoute = ({ approverSessions, passkeys }: Context) =>
  handlePublic(vouchOnPage, { rateLimit: 'page' })(async ({ body, req }) => {
    const { principal_id: principal, credential_id: id, csrf_token: token, assertion } = body;
    const form = { action: 'vouch', principal, credential: id } as const;
    const { key } = await requireSession(approverSessions, req, { form, token });
    const voucher = { tenant: key.tenant, by: key.principal, asserted: null, principal, id };
    return { state: stateOf(await endVoucher(passkeys, { ...voucher, assertion })) };
  });
