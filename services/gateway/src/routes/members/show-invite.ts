import { showInvite } from '@countersign/contracts/gateway';
import { handlePublic, html, page } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { inviteAddress } from '../../members/invite-address.ts';

/** Looks nothing up, so the page reveals nothing about the token. */
export const showInviteRoute = ({ config }: Context) =>
  handlePublic(showInvite)(({ params: { token } }) => {
    const url = new URL(`/api/auth/invite/${encodeURIComponent(token)}`, config.publicUrl).href;
    const verify = new URL('/api/auth/email/verify', config.publicUrl).href;
    const json = "-H 'content-type: application/json'";
    const body = html`<h1>You are invited</h1>
      ${config.controlPlane === null ? '' : html`<p><a href="${inviteAddress(config, token)}">Accept in the browser</a></p>`}
      <p>Or accept from a terminal, with the address that the invite was sent to. A code is sent to this address:</p>
      <pre>curl ${json} -d '{"email":"you@example.org"}' ${url}</pre>
      <p>The code signs you in, and makes you a member:</p>
      <pre>curl ${json} -d '{"email":"you@example.org","code":"123456"}' ${verify}</pre>
      <p>An invite works once, within seven days, and only for the address that it was sent to.</p>`;
    return page({ title: 'Countersign: an invite', body });
  });
