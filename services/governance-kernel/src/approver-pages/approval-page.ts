import type { PlainJson, PrincipalId } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { html, page, type Html, type Prepared } from '@countersign/service-kit';
import { lifeText } from './life-text.ts';

/** Everything that is known about an approval, by its names in the contract. */
type ShownApproval = Approval & Readonly<Record<string, PlainJson>>;

export type ApprovalPage = {
  approval: ShownApproval;
  viewer: PrincipalId;
  nowMs: number;
  /** Why the viewer cannot decide this way now; null: nothing stands against it. */
  obstacles: Readonly<Record<'approve' | 'deny', string | null>>;
  tokens: Readonly<Record<'decide' | 'signOut', string>>;
  /** What became of the form that was sent, where it decided nothing. */
  notice?: { text: string; status: number } | undefined;
};

/** What the person decides on stands first; all other members follow, so nothing of the view is left out. */
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
];

/** The approval, how long there is, and the form to decide it. It works without a script. */
export function approvalPage({ approval, viewer, nowMs, obstacles, tokens, notice }: ApprovalPage): Prepared {
  const rest = Object.keys(approval).filter((name) => !first.includes(name));
  const life = lifeText(approval, nowMs);
  const body = html`<h1>${approval.tool ?? approval.action}: ${life.heading}</h1>
    ${notice === undefined ? null : html`<p class="notice" role="alert">${notice.text}</p>`}
    <p>${life.text}</p>
    ${members(approval, first)} ${approval.state === 'pending' ? decision(approval, obstacles, tokens.decide) : null}
    <details>
      <summary>Everything else about it</summary>
      ${members(approval, rest)}
    </details>
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

type Obstacles = ApprovalPage['obstacles'];

function decision({ approval_id, ceremony_hash }: Approval, { approve, deny }: Obstacles, token: string): Html {
  if (approve !== null && deny !== null) return html`<p class="notice">You cannot decide this: ${deny}.</p>`;
  return html`<form method="post" action="/approvals/${approval_id}">
    <input type="hidden" name="ceremony_hash" value="${ceremony_hash}" />
    <input type="hidden" name="csrf_token" value="${token}" />
    <label for="reason">Reason (the agent reads it when you deny)</label>
    <textarea id="reason" name="reason" rows="3" maxlength="2000"></textarea>
    ${approve === null ? html`<button type="submit" name="decision" value="approve">Approve</button>` : html`<p>${approve}.</p>`}
    <button type="submit" name="decision" value="deny">Deny</button>
  </form>`;
}
