import type { PlainJson, PrincipalId } from '@countersign/contracts';
import type { Approval, PasskeyState } from '@countersign/contracts/governance-kernel';
import { html, page, type Html, type Prepared } from '@countersign/service-kit';
import { decisionForms, type Obstacles } from './decision-forms.ts';
import { lifeText } from './life-text.ts';

/** All members of an approval, by their names in the contract. */
type ShownApproval = Approval & Readonly<Record<string, PlainJson>>;

export type ApprovalPage = {
  approval: ShownApproval;
  viewer: PrincipalId;
  nowMs: number;
  /** For each decision, the reason why the viewer cannot make it now. `null` when they can. */
  obstacles: Obstacles;
  tokens: Readonly<Record<'decide' | 'signOut' | 'enrol', string>>;
  passkeys: ViewerPasskeys;
  /** The result of a submitted form that decided nothing. */
  notice?: { text: string; status: number } | undefined;
};

/**
 * Whether a passkey is required here, the state of the viewer's passkey (`null` without one), whether passkeys can be
 * used at this address, and whether the terms permit breaking the glass.
 */
export type ViewerPasskeys = Readonly<{
  areRequired: boolean;
  state: PasskeyState | null;
  areAvailable: boolean;
  mayBreakGlass: boolean;
}>;

/** The members that matter for the decision come first. All others follow, so the view is complete. */
const first = [
  'tool',
  'action',
  'args',
  'resource',
  'effect_level',
  'spend_minor',
  'demand',
  'facts',
  'capped_facts',
  'reason',
  'requested_by',
  'scope',
  'break_glass',
];

/**
 * The page with the approval, its remaining time, and the form to decide it. The page loads a script only if passkeys
 * can be used at this address.
 */
export function approvalPage({ approval, viewer, nowMs, obstacles, tokens, passkeys, notice }: ApprovalPage): Prepared {
  const rest = Object.keys(approval).filter((name) => !first.includes(name));
  const life = lifeText(approval, nowMs);
  const body = html`<h1>${approval.tool ?? approval.action}: ${life.heading}</h1>
    ${notice === undefined ? null : html`<p class="notice" role="alert">${notice.text}</p>`}
    <p>${life.text}</p>
    ${members(approval, first)} ${decisionForms(approval, { obstacles, passkeys, token: tokens.decide })}
    <p class="notice" id="passkey-notice" role="status"></p>
    <details>
      <summary>Other details of the approval</summary>
      ${members(approval, rest)}
    </details>
    ${enrolment(approval, passkeys, tokens.enrol)}
    <form method="post" action="/approvals/sign-out">
      <p class="quiet">You are signed in as ${viewer}.</p>
      <input type="hidden" name="approval_id" value="${approval.approval_id}" />
      <input type="hidden" name="csrf_token" value="${tokens.signOut}" />
      <button type="submit">Sign out</button>
    </form>`;
  const { reloadSeconds } = life;
  return page({
    title: `${life.heading}: ${approval.tool ?? approval.action}`,
    body,
    ...(passkeys.areAvailable ? { script: '/approvals/passkey.js' } : {}),
    status: notice?.status ?? 200,
    ...(reloadSeconds === null ? {} : { reloadSeconds }),
  });
}

function members(approval: ShownApproval, names: readonly string[]): Html {
  const existing = names.filter((name) => approval[name] !== undefined);
  return html`<dl>
    ${existing.map(
      (name) =>
        html`<dt>${name.replaceAll('_', ' ')}</dt>
          <dd>${valueOf(approval[name] ?? null)}</dd> `,
    )}
  </dl>`;
}

function valueOf(value: PlainJson): Html {
  if (value === null || (Array.isArray(value) && value.length === 0)) return html`<span class="quiet">none</span>`;
  if (typeof value !== 'object') return html`${String(value)}`;
  // Each line is printed separately, so that line breaks in the values do not become lines of the page.
  const lines = JSON.stringify(value, null, 2).split('\n');
  return html`<pre>${lines.map((line) => html`${line}<br />`)}</pre>`;
}

function enrolment({ approval_id: id }: Approval, { state, areAvailable }: ViewerPasskeys, token: string): Html | null {
  if (!areAvailable || state === 'active') return null;
  if (state === 'waiting')
    return html`<p class="quiet">Your passkey becomes active when a person with an active passkey vouches for it.</p>`;
  return html`<form
    method="post"
    action="/approvals/${id}"
    data-passkey="/approvals/${id}/passkey"
    data-ceremony="enrol"
  >
    <input type="hidden" name="csrf_token" value="${token}" />
    <button type="submit">Enrol a passkey</button>
  </form>`;
}
