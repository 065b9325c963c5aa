import { verifyOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { endEnrolment } from '../../controls/passkeys/enrol-passkey.ts';
import { stateOf } from '../../controls/passkeys/passkeys.ts';

export const verifyOnPageRoute = (kernel: Context) =>
  handlePublic(verifyOnPage, { rateLimit: 'page' })(async ({ params: { approval_id: id }, body, req }) => {
    const form = { id, action: 'enrol' } as const;
    const { key } = await requireSession(kernel.approverSessions, req, { form, token: body.csrf_token });
    const owner = { tenant: key.tenant, principal: key.principal };
    const made = { owner, by: key.principal, asserted: null, attestation: body.attestation };
    const passkey = await endEnrolment(kernel.passkeys, made);
    return { state: stateOf(passkey) };
  });
