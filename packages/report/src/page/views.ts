import type { ExportReport } from '@countersign/verifier';
import { button, element, table } from './element.ts';
import type { Entry, PackContent, PackPolicyText } from './read-pack.ts';
import { meanings, questions, toneOf } from './verdicts.ts';

const countNames = { ALLOW: 'allowed', DENY: 'denied', ESCALATE: 'escalated' };

/** Maximum number of visible rows. */
const rowsMax = 200;

/** The verdict, the four answers, and their basis. */
export function verdictView(report: ExportReport): HTMLElement {
  const { verdict, fault } = report;
  return element(
    'section',
    { id: 'verdict', class: toneOf(verdict), 'aria-live': 'polite' },
    element('h2', {}, words(verdict)),
    ...(fault === null ? [] : [element('p', { id: 'fault' }, faultText(fault))]),
    element('dl', {}, ...questions.flatMap((question) => answerView(question, report[question]))),
    ...(report.missing.length === 0 ? [] : [listOf('Missing', report.missing)]),
    ...(report.limits.length === 0 ? [] : [listOf('Not shown by any receipt here', report.limits)]),
  );
}

function answerView(question: (typeof questions)[number], answer: string): HTMLElement[] {
  const texts: Readonly<Record<string, string>> = meanings[question];
  const mark = element('strong', { class: toneOf(answer), 'data-answer': question }, words(answer));
  return [element('dt', {}, words(question)), element('dd', {}, mark, ` ${texts[answer] ?? ''}`)];
}

function faultText({ code, message, line, receipt_id: id }: NonNullable<ExportReport['fault']>): string {
  const place = line === 0 ? '' : `Line ${line}${id === null ? '' : `, receipt ${id}`}: `;
  return `${place}${message} (${code})`;
}

/** The scope, the counts and the keys. */
export function basisView({ pack, signers, log, issued, witnessed }: ExportReport, packHash: string): HTMLElement {
  const last = log?.checkpoints.at(-1);
  const facts: (readonly [string, string])[] = [
    ['SHA-256 of the pack', packHash],
    ...(pack === null
      ? []
      : ([
          ['Workspace', pack.scope.tenant_id],
          ['Range of the log', rangeText(pack)],
          ['Sessions', pack.scope.sessions?.join(', ') ?? `all (${pack.counts.sessions})`],
          ['Receipts', String(pack.counts.receipts)],
          ['Open calls', String(pack.counts.open_calls)],
          ['Votes without a credential of a person', String(pack.counts.unbacked_votes)],
        ] as const)),
    ...(issued === null ? [] : ([['Issued', `${issued.first} to ${issued.last}`]] as const)),
    ...(log === null ? [] : ([['Log', `${log.origin}, ${last?.size ?? 0} leaves at ${last?.time ?? ''}`]] as const)),
    ...(witnessed === null ? [] : ([['Witnessed', witnessedText(witnessed)]] as const)),
  ];
  const keys = signers.map(({ key_id, purpose, signed }) => [code(key_id), purpose, String(signed)]);
  return element(
    'section',
    {},
    element('h2', {}, 'Basis of the result'),
    element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, code(value))])),
    element('p', {}, 'Compare these keys with the keys that the operator gave you by another way. ', ownKeysHint()),
    table('Keys', ['Key', 'Purpose', 'Signatures'], keys),
  );
}

function rangeText({ scope: { leaves }, counts }: NonNullable<ExportReport['pack']>): string {
  return `leaves ${leaves.from} to ${leaves.to}, of which ${counts.receipts} are shown`;
}

function witnessedText({ after, by }: NonNullable<ExportReport['witnessed']>): string {
  return after === null ? `by ${by}` : `after ${after}, by ${by}`;
}

function ownKeysHint(): string {
  return 'They came with this file, unless you opened your own key set above.';
}

const unverifiedText =
  'The lines of the file are shown as they are. The result above does not cover them all, so do not rely on them.';

/** Receipts in the order of the log. */
export function timelineView({ entries }: PackContent, { verdict }: ExportReport): HTMLElement {
  const section = element(
    'section',
    { id: 'timeline' },
    element('h2', {}, `Timeline (${entries.length})`),
    ...(verdict === 'VERIFIED' ? [] : [element('p', { class: 'unverified' }, unverifiedText)]),
    countsView(entries),
  );
  showRows(section, entries, 0);
  return section;
}

function countsView(entries: readonly Entry[]): HTMLElement {
  const shadows = entries.filter(({ kind, isShadow }) => kind === 'decision' && isShadow).length;
  const decisions = entries.filter(({ kind, isShadow }) => kind === 'decision' && !isShadow);
  const counts = Object.entries(countNames).map(
    ([verdict, name]) => `${decisions.filter((entry) => entry.verdict === verdict).length} ${name}`,
  );
  const evaluated = shadows === 0 ? '' : `. ${shadows} in shadow, which permitted and refused nothing`;
  return element('p', {}, `${decisions.length} decisions: ${counts.join(', ')}${evaluated}`);
}

function showRows(section: HTMLElement, entries: readonly Entry[], from: number): void {
  const rows = entries
    .slice(from, from + rowsMax)
    .map(({ at, kind, isShadow, principal, action, tool, verdict, reason, receiptId, line }) => [
      element('time', { datetime: at }, at.replace('T', ' ')),
      isShadow ? `${words(kind)} (shadow)` : words(kind),
      principal,
      tool === '' ? action : tool,
      element('span', { class: `verdict-${verdict.toLowerCase()}` }, words(verdict)),
      reason,
      element('span', {}, code(receiptId), ` line ${line}`),
    ]);
  section.append(
    table(
      `Receipts from number ${from + 1}`,
      ['Time', 'Kind', 'Principal', 'Tool or action', 'Verdict', 'Reason', 'Receipt'],
      rows,
    ),
  );
  const rest = entries.length - from - rowsMax;
  if (rest <= 0) return;
  const more = button(`Show ${Math.min(rest, rowsMax)} more of ${rest}`, () => {
    more.remove();
    showRows(section, entries, from + rowsMax);
  });
  section.append(more);
}

/** Votes on approvals. Each vote has its own receipt. */
export function approvalsView({ entries }: PackContent): HTMLElement {
  const votes = entries.filter(({ kind }) => kind === 'approval' || kind === 'break_glass');
  const rows = votes.map(({ approval, at, kind, principal, reason }) => [
    code(approval),
    at.replace('T', ' '),
    kind === 'break_glass' ? 'Broken glass' : 'Vote',
    principal,
    reason,
  ]);
  const empty = element('p', {}, 'No votes on approvals are in the scope.');
  return element(
    'section',
    { id: 'approvals' },
    element('h2', {}, `Approvals (${votes.length})`),
    votes.length === 0 ? empty : table('Votes', ['Approval', 'Time', 'Kind', 'Person', 'Result'], rows),
  );
}

/** The policies that decided. */
export function policiesView({ policies }: PackContent): HTMLElement {
  return element(
    'section',
    { id: 'policies' },
    element('h2', {}, `Policies (${policies.length})`),
    ...policies.map(policyView),
  );
}

function policyView({ tenant, epoch, hash, bundle }: PackPolicyText): HTMLElement {
  const summary = element('summary', {}, `Epoch ${epoch} of ${tenant}, `, code(hash));
  return element('details', {}, summary, element('pre', {}, bundle));
}

function listOf(title: string, items: readonly string[]): HTMLElement {
  return element(
    'div',
    {},
    element('h3', {}, title),
    element('ul', {}, ...items.map((item) => element('li', {}, item))),
  );
}

function code(text: string): HTMLElement {
  return element('code', {}, text);
}

/** `NOT_VERIFIED` as `Not verified`. */
function words(name: string): string {
  const text = name.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
