import type { ApprovalId } from '@countersign/contracts';
import { html, page, type Prepared } from '@countersign/service-kit';

/**
 * The page for visitors without a session. It is the same for existing and missing approvals. `id` is `null` on the
 * page of passkeys.
 */
export function signInPage(id: ApprovalId | null, why: 'stranger' | keyof typeof notices = 'stranger'): Prepared {
  const notice = why === 'stranger' ? null : html`<p class="notice" role="alert">${notices[why]}</p>`;
  const body = html`<h1>Sign in to decide</h1>
    ${notice}
    <p>${id === null ? aboutVoucher : aboutCall} Sign in with your approver key.</p>
    <form method="post" action="/approvals/sign-in">
      ${id === null ? null : html`<input type="hidden" name="approval_id" value="${id}" />`}
      <label for="key">Approver key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required maxlength="200" />
      <button type="submit">Sign in</button>
    </form>
    ${id === null ? null : html`<p>${aboutMembers} <code>PUT /api/audit/approvals/${id}</code>. ${aboutPasskeys}</p>`}`;
  return page({ title: 'Sign in', body, status: why === 'stranger' ? 200 : 401 });
}

const aboutCall = 'A call of an agent needs a decision by a person.';
const aboutMembers =
  'Owners and partners of the workspace do not need this key. They decide in the inbox of the console, or at the gateway with';
const aboutPasskeys = 'If passkeys are enrolled, a decision needs a passkey, on this page or in the inbox.';
const aboutVoucher = 'A person waits for you to vouch for their passkey.';

const notices = {
  refused:
    'This approver key is unknown or has expired. Approver keys begin with apk_. Request a new one from the operator.',
  ended: 'Your session has ended, so your form decided nothing. Sign in again.',
};
