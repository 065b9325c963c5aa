import type { PrincipalId } from '@countersign/contracts';
import { html, page, type Html, type Prepared } from '@countersign/service-kit';
import type { PasskeyRow } from '../../controls/passkeys/passkeys.ts';
import type { ViewerPasskeys } from './approval-page.ts';

type Waiting = { row: PasskeyRow; token: string };

type WaitingPage = {
  viewer: PrincipalId;
  waiting: readonly Waiting[];
  passkeys: ViewerPasskeys;
  signOut: string;
};

/**
 * The passkeys that wait for confirmation by another person, with a form for each. The page loads a script only if
 * passkeys can be used at its address.
 */
export function waitingPage({ viewer, waiting, passkeys, signOut }: WaitingPage): Prepared {
  const lack = lackOf(passkeys);
  const none = html`<p>No passkeys are waiting.</p>`;
  const body = html`<h1>Waiting passkeys</h1>
    <p>
      A waiting passkey cannot be used until a person with an active passkey vouches for it. First ask its owner for the
      credential id.
    </p>
    ${lack === null ? null : html`<p class="notice">${lack}</p>`}
    ${waiting.length === 0 ? none : waiting.map((one) => passkeyOf(one, lack === null))}
    <p class="notice" id="passkey-notice" role="status"></p>
    <form method="post" action="/approvals/sign-out">
      <p class="quiet">You are signed in as ${viewer}.</p>
      <input type="hidden" name="csrf_token" value="${signOut}" />
      <button type="submit">Sign out</button>
    </form>`;
  const script = passkeys.areAvailable ? { script: '/approvals/passkey.js' } : {};
  return page({ title: 'Waiting passkeys', body, ...script });
}

function lackOf({ areAvailable, state }: ViewerPasskeys): string | null {
  if (!areAvailable) return 'You need a passkey to vouch, but passkeys cannot be used at this address.';
  return state === 'active' ? null : 'You need an active passkey to vouch, and you have none.';
}

function passkeyOf({ row, token }: Waiting, mayVouch: boolean): Html {
  return html`<dl>
      <dt>owner</dt>
      <dd>${row.principal}</dd>
      <dt>credential id</dt>
      <dd>${row.id}</dd>
      <dt>enrolled</dt>
      <dd>${new Date(row.createdAtMs).toISOString()} by ${row.createdBy}</dd>
    </dl>
    ${mayVouch ? voucherForm(row, token) : null}`;
}

function voucherForm({ principal, id }: PasskeyRow, token: string): Html {
  return html`<form method="post" action="/approvals/passkeys" data-passkey="/approvals/passkeys" data-ceremony="vouch">
    <input type="hidden" name="principal_id" value="${principal}" />
    <input type="hidden" name="credential_id" value="${id}" />
    <input type="hidden" name="csrf_token" value="${token}" />
    <button type="submit">Vouch for ${principal} with your passkey</button>
    <noscript>You need JavaScript to vouch with a passkey.</noscript>
  </form>`;
}
