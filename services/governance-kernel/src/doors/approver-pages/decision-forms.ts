import type { Approval, ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { html, type Html } from '@countersign/service-kit';
import type { ViewerPasskeys } from './approval-page.ts';

/** For each decision, the reason why a person cannot make it now. `null` when they can. */
export type Obstacles = Readonly<Record<ApprovalDecision, string | null>>;

type Shown = { obstacles: Obstacles; passkeys: ViewerPasskeys; token: string };

/**
 * Forms for the decisions that this person can make now, or the reason why there are none. `null` when the approval is
 * neither pending nor approved.
 */
export function decisionForms(approval: Approval, shown: Shown): Html | null {
  const { obstacles, passkeys } = shown;
  const isOpen = approval.state === 'pending';
  if (!isOpen && approval.state !== 'approved') return null;
  if (isOpen && obstacles.approve !== null && obstacles.deny !== null && obstacles.break_glass !== null)
    return html`<p class="notice">You cannot decide this: ${obstacles.deny}.</p>`;
  const lack = lackOf(passkeys);
  if (lack !== null) return html`<p>${lack}</p>`;
  return html`${isOpen ? answerForm(approval, shown) : withdrawForm(approval, shown)} ${glassForm(approval, shown)}`;
}

/** Why this person cannot use a required passkey, as text. `null` when they can, or when none is required. */
function lackOf({ areRequired, areAvailable, state }: ViewerPasskeys): string | null {
  if (!areRequired) return null;
  if (!areAvailable) return 'You need a passkey to decide, but passkeys cannot be used at this address.';
  return state === 'active' ? null : 'You need an active passkey to decide, and you have none.';
}

function answerForm(approval: Approval, shown: Shown): Html {
  const { approve, deny } = shown.obstacles;
  const by = shown.passkeys.areRequired ? ' with your passkey' : '';
  const label = 'Reason (the agent reads it when you deny)';
  return form(
    approval,
    shown,
    html`${reasonField(label, { name: 'reason', isRequired: false })}
    ${approve === null ? null : html`<p>${approve}.</p>`} ${approve === null ? button('approve', `Approve${by}`) : null}
    ${deny === null ? button('deny', `Deny${by}`) : null}`,
  );
}

function withdrawForm(approval: Approval, shown: Shown): Html | null {
  if (shown.obstacles.revoke !== null) return null;
  const label = 'Reason (the agent reads it)';
  const fields = html`${reasonField(label, { name: 'reason', isRequired: false })}
  ${button('revoke', 'Withdraw the approval')}`;
  return form(approval, shown, fields);
}

function glassForm(approval: Approval, shown: Shown): Html | null {
  if (!shown.passkeys.mayBreakGlass || shown.obstacles.break_glass !== null) return null;
  const label = 'Reason (stored permanently with the approval)';
  return html`<details>
    <summary>Break the glass</summary>
    <p>
      You approve this call alone. The agent can make it once, within 15 minutes. An event reports that you did this.
    </p>
    ${form(
      approval,
      shown,
      html`${reasonField(label, { name: 'reason', isRequired: true })} ${button('break_glass', 'Break the glass')}`,
    )}
  </details>`;
}

/** The form of a decision. If a passkey is required, the page's script sends the data of the form. */
function form({ approval_id: id, ceremony_hash: hash }: Approval, { passkeys, token }: Shown, fields: Html): Html {
  const all = html`<input type="hidden" name="ceremony_hash" value="${hash}" />
    <input type="hidden" name="csrf_token" value="${token}" />
    ${fields}`;
  if (!passkeys.areRequired) return html`<form method="post" action="/approvals/${id}">${all}</form>`;
  return html`<form
    method="post"
    action="/approvals/${id}"
    data-passkey="/approvals/${id}/passkey"
    data-ceremony="decide"
  >
    ${all}
    <noscript>You need JavaScript to decide with a passkey.</noscript>
  </form>`;
}

function reasonField(label: string, { name, isRequired }: { name: string; isRequired: boolean }): Html {
  const area = isRequired
    ? html`<textarea name="${name}" rows="3" maxlength="2000" required></textarea>`
    : html`<textarea name="${name}" rows="3" maxlength="2000"></textarea>`;
  return html`<label>${label} ${area}</label>`;
}

function button(decision: ApprovalDecision, label: string): Html {
  return html`<button type="submit" name="decision" value="${decision}">${label}</button>`;
}
