import { registerOnPage } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { requireSession } from '../../doors/approver-pages/require-session.ts';
import type { Context } from '../../context.ts';
import { beginEnrolment } from '../../controls/passkeys/enrol-passkey.ts';

export const registerOnPageRoute = (kernel: Context) =>
  handlePublic(registerOnPage, { rateLimit: 'page' })(async ({ params: { approval_id: id }, body, req }) => {
    const form = { id, action: 'enrol' } as const;
    const { key } = await requireSession(kernel.approverSessions, req, { form, token: body.csrf_token });
    const { options } = await beginEnrolment(kernel.passkeys, { tenant: key.tenant, principal: key.principal });
    return { options };
  });
