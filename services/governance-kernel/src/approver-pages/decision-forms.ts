import type { Approval, ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { html, type Html } from '@countersign/service-kit';
import type { ViewerPasskeys } from './approval-page.ts';

/** Why a person cannot decide so now, by decision; null: nothing stands against it. */
export type Obstacles = Readonly<Record<ApprovalDecision, string | null>>;

type Shown = { obstacles: Obstacles; passkeys: ViewerPasskeys; token: string };

/** The decisions that this person can make on the approval now. */
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

/** The reason why no one, or not this person, can decide here. */
function lackOf({ areRequired, areAvailable, state }: ViewerPasskeys): string | null {
  if (!areRequired) return null;
  if (!areAvailable) return 'Deciding takes a passkey, and browsers have none at this address.';
  return state === 'active' ? null : 'Deciding takes an active passkey, and you have none.';
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
  const label = 'Reason (it stays with the approval for ever)';
  return html`<details>
    <summary>Break the glass</summary>
    <p>You approve this alone, for one use within a quarter of an hour. Everybody is told that you did.</p>
    ${form(
      approval,
      shown,
      html`${reasonField(label, { name: 'reason', isRequired: true })} ${button('break_glass', 'Break the glass')}`,
    )}
  </details>`;
}

/** A vote by passkey needs the script, which sends the form's data. */
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
    <noscript>Deciding with a passkey takes a script.</noscript>
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
