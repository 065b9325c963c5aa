import { showWaitingPasskeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import { signInPage } from '../../doors/approver-pages/sign-in-page.ts';
import { viewerPasskeys } from '../../doors/approver-pages/viewer-passkeys.ts';
import { waitingPage } from '../../doors/approver-pages/waiting-page.ts';
import type { Context } from '../../context.ts';
import { waitingMsMax } from '../../controls/passkeys/waiting.ts';
import { findApprovalTerms, listWaitingPasskeys } from '../../store/passkey-store.ts';

/** The limit of passkeys on the page, more than a person compares at once. Others appear when these are done. */
const shownMax = 50;

/** A signed-in person sees the waiting passkeys of their tenant. */
export const showWaitingPasskeysRoute = (kernel: Context) =>
  handlePublic(showWaitingPasskeys, { rateLimit: 'page' })(async ({ req }) => {
    const { approverSessions, reader, clock } = kernel;
    const session = await approverSessions.find(req.headers.cookie);
    if (session === null) return signInPage(null);
    const { tenant, principal: viewer } = session.key;
    const sinceMs = clock().getTime() - waitingMsMax;
    const rows = await listWaitingPasskeys(reader, { tenant, sinceMs, limit: shownMax });
    return waitingPage({
      viewer,
      waiting: rows.map((row) => {
        const form = { action: 'vouch', principal: row.principal, credential: row.id } as const;
        return { row, token: approverSessions.csrfToken(session, form) };
      }),
      passkeys: await viewerPasskeys(kernel.passkeys, session.key, await findApprovalTerms(reader, tenant)),
      signOut: approverSessions.csrfToken(session, { id: null, action: 'sign-out' }),
    });
  });
