import type { ApprovalId } from '@countersign/contracts';
import { html, page, type Prepared } from '@countersign/service-kit';

/** The page without a session, for an approval that exists and for one that does not. Null: the page of passkeys. */
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

const aboutCall = 'A person is asked to decide about a call of an agent.';
const aboutMembers =
  'Owners and partners of the workspace whose agent asks need no such key: they answer in the inbox of the console, or at its gateway by';
const aboutPasskeys = 'Where passkeys are enrolled, this page alone decides.';
const aboutVoucher = 'A person waits until you vouch for a passkey.';

const notices = {
  refused: 'There is no such approver key here, or it has ended. One begins with apk_; an operator makes it.',
  ended: 'You are not signed in any more, so your form decided nothing.',
};
