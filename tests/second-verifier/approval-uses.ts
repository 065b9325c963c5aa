import { isMove } from './approval-moves.ts';
import { need } from './fault.ts';
import { folded } from './forms.ts';
import type { Payload, Policy, Sealed } from './statements.ts';
import { isObject, type Json } from './strict-json.ts';

const code = 'APPROVAL_CONTRADICTED';

type History = { isRequested: boolean; moves: Sealed[]; voters: string[]; uses: number };

/** The approvals of one chain, in the order of the chain (5.3 to 5.10). */
export class Approvals {
  readonly #histories = new Map<string, History>();
  readonly #beginsAtOne: boolean;
  #areKnown = true;

  constructor({ beginsAtOne }: { beginsAtOne: boolean }) {
    this.#beginsAtOne = beginsAtOne;
  }

  /**
   * Takes the next receipt of the chain. In a pack, `policy` is the policy of the call. Throws `APPROVAL_CONTRADICTED`.
   */
  take(payload: Payload, record: Sealed | undefined, policy: Policy | undefined): void {
    const isOfApproval = payload.kind === 'approval' || payload.kind === 'break_glass';
    if (record === undefined) {
      if (isOfApproval && payload.action !== 'approval.request') this.#areKnown = false; // 5.10
      return;
    }
    if (isOfApproval) this.#learn(record);
    else if (record.kind === 'decision') this.#assertCall(payload, record, policy);
  }

  #learn(record: Sealed): void {
    if (record.approval_id === null) return;
    const history = this.#histories.get(record.approval_id) ?? { isRequested: false, moves: [], voters: [], uses: 0 };
    this.#histories.set(record.approval_id, history);
    if (record.intent.action === 'approval.request') history.isRequested = true;
    if (isMove(record)) history.moves.push(record);
    const isVote = record.kind === 'break_glass' || record.intent.action === 'approval.approve'; // 5.6
    if (isVote) history.voters.push(record.principal_id);
  }

  #assertCall(payload: Payload, record: Sealed, policy: Policy | undefined): void {
    const isNamed = record.approval_id !== null; // 5.3
    if (payload.shadow || record.dispatched_by === 'nobody') return need(!isNamed, code, '5.3');
    if (record.verdict !== 'ALLOW') return;
    const gate = record.gates.find((each) => each.gate === 'approval');
    need(isNamed === (gate?.outcome === 'pass'), code, '5.3');
    if (record.approval_id === null || !this.#areKnown) return;
    const history = this.#histories.get(record.approval_id);
    const isWhole = this.#beginsAtOne || history?.isRequested === true; // 5.10
    const last = history?.moves.at(-1);
    if (history === undefined || last === undefined) return need(!isWhole, code, '5.4');
    need(last.intent.facts['state'] === 'approved', code, '5.4');
    assertUse(record, last);
    assertVoters(record, history);
    history.uses += 1;
    need(history.uses <= usesMax(last), code, '5.7');
    if (isWhole && policy !== undefined && last.kind !== 'break_glass') assertQuorum(record, history, policy);
  }
}

function assertUse({ judged_hash, tool_definition_hash, created_at }: Sealed, last: Sealed): void {
  const { facts } = last.intent; // 5.5
  need(facts['approved_judged_hash'] === judged_hash, code, '5.5');
  const conditions = facts['approved_preconditions'];
  if (isObject(conditions) && conditions['tool_definition_hash'] !== undefined)
    need(conditions['tool_definition_hash'] === tool_definition_hash, code, '5.5');
  const { timelock_until: from, approved_expires_at: until, expires_at: glassUntil } = facts;
  need(typeof from !== 'string' || created_at >= from, code, '5.5');
  need(typeof until !== 'string' || created_at < until, code, '5.5');
  if (last.kind === 'break_glass') need(created_at < String(glassUntil), code, '5.8');
}

function assertVoters({ principal_id }: Sealed, { voters }: History): void {
  need(!voters.some((voter) => folded(voter) === folded(principal_id)), code, '5.6');
}

function usesMax({ kind, intent }: Sealed): number {
  if (kind === 'break_glass') return 1; // 5.8
  const scope: Json | undefined = intent.facts['approved_scope'];
  if (scope === 'once') return 1;
  return typeof scope === 'string' && scope.startsWith('uses:') ? Number(scope.slice('uses:'.length)) : Infinity;
}

function assertQuorum({ matched_rules }: Sealed, { moves }: History, { bundle }: Policy): void {
  const rules = Array.isArray(bundle['rules']) ? bundle['rules'].filter(isObject) : []; // 5.9
  const votes = moves.filter(({ intent }) => intent.action === 'approval.approve');
  for (const { id, effect, approval } of rules) {
    if (effect !== 'escalate' || !matched_rules.includes(String(id))) continue;
    const terms = isObject(approval) ? approval : {};
    const approvers = Array.isArray(terms['approvers']) ? terms['approvers'] : [];
    const voters = votes
      .map((vote) => vote.principal_id)
      .filter((voter) => approvers.length === 0 || approvers.includes(voter));
    need(new Set(voters.map(folded)).size >= Number(terms['quorum'] ?? 1), code, '5.9');
  }
}
