import type { PlainJson, PrincipalId } from '@countersign/contracts';
import type { Approval, PasskeyState } from '@countersign/contracts/governance-kernel';
import { html, page, type Html, type Prepared } from '@countersign/service-kit';
import { decisionForms, type Obstacles } from './decision-forms.ts';
import { lifeText } from './life-text.ts';

/** Everything that is known about an approval, by its names in the contract. */
type ShownApproval = Approval & Readonly<Record<string, PlainJson>>;

export type ApprovalPage = {
  approval: ShownApproval;
  viewer: PrincipalId;
  nowMs: number;
  /** Why the viewer cannot decide this way now; null: nothing stands against it. */
  obstacles: Obstacles;
  tokens: Readonly<Record<'decide' | 'signOut' | 'enrol', string>>;
  passkeys: ViewerPasskeys;
  /** The result of the submitted form, if it decided nothing. */
  notice?: { text: string; status: number } | undefined;
};

/**
 * The viewer's terms and passkeys: whether a passkey must decide here, whether this person has one, and whether a
 * browser can have one here at all. May the glass be broken?
 */
export type ViewerPasskeys = Readonly<{
  areRequired: boolean;
  state: PasskeyState | null;
  areAvailable: boolean;
  mayBreakGlass: boolean;
}>;

/** The members that the person decides on come first; all others follow, so nothing of the view is left out. */
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

/** The approval, how long there is, and the form to decide it. Only a passkey takes a script. */
export function approvalPage({ approval, viewer, nowMs, obstacles, tokens, passkeys, notice }: ApprovalPage): Prepared {
  const rest = Object.keys(approval).filter((name) => !first.includes(name));
  const life = lifeText(approval, nowMs);
  const body = html`<h1>${approval.tool ?? approval.action}: ${life.heading}</h1>
    ${notice === undefined ? null : html`<p class="notice" role="alert">${notice.text}</p>`}
    <p>${life.text}</p>
    ${members(approval, first)} ${decisionForms(approval, { obstacles, passkeys, token: tokens.decide })}
    <p class="notice" id="passkey-notice" role="status"></p>
    <details>
      <summary>Everything else about it</summary>
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
  const known = names.filter((name) => approval[name] !== undefined);
  return html`<dl>
    ${known.map(
      (name) =>
        html`<dt>${name.replaceAll('_', ' ')}</dt>
          <dd>${valueOf(approval[name] ?? null)}</dd> `,
    )}
  </dl>`;
}

function valueOf(value: PlainJson): Html {
  if (value === null || (Array.isArray(value) && value.length === 0)) return html`<span class="quiet">none</span>`;
  if (typeof value !== 'object') return html`${String(value)}`;
  // Line by line: only our own line ends are line ends.
  const lines = JSON.stringify(value, null, 2).split('\n');
  return html`<pre>${lines.map((line) => html`${line}<br />`)}</pre>`;
}

function enrolment({ approval_id: id }: Approval, { state, areAvailable }: ViewerPasskeys, token: string): Html | null {
  if (!areAvailable || state === 'active') return null;
  if (state === 'waiting')
    return html`<p class="quiet">Your passkey waits until a person with an active one vouches for it.</p>`;
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
