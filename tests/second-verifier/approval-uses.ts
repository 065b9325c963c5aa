import { isMove } from './approval-moves.ts';
import { need } from './fault.ts';
import { assertTerms } from './approval-terms.ts';
import { folded } from './forms.ts';
import type { Payload, Policy, Sealed } from './statements.ts';
import { isObject, type Json } from './strict-json.ts';

const code = 'APPROVAL_CONTRADICTED';

export type History = { isRequested: boolean; since: string; moves: Sealed[]; voters: string[]; uses: number };

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
    const begun = { isRequested: false, since: record.created_at, moves: [], voters: [], uses: 0 };
    const history = this.#histories.get(record.approval_id) ?? begun;
    this.#histories.set(record.approval_id, history);
    if (record.intent.action === 'approval.request') history.isRequested = true;
    if (isMove(record)) {
      assertFollows(record, history);
      history.moves.push(record);
    }
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
    assertShown(record, history);
    assertVoters(record, history);
    history.uses += 1;
    need(history.uses <= usesMax(last), code, '5.7');
    if (policy !== undefined) assertTerms(record, history, { policy, isWhole });
  }
}

/** Throws unless an approval with these moves may be moved in this way, and for the same call (5.11, 5.12). */
function assertFollows(record: Sealed, { moves, uses }: History): void {
  const last = moves.at(-1);
  if (last === undefined) return;
  const { state } = last.intent.facts;
  const { action } = record.intent;
  const isEnding = action === 'approval.revoke' || action === 'approval.expire';
  const isBreaking = record.kind === 'break_glass' && last.kind !== 'break_glass';
  const isUsable = state === 'approved' && uses < usesMax(last);
  need(state === 'pending' || (isUsable && (isEnding || isBreaking)), code, '5.11');
  assertSameCall(record, subjectOf(last));
}

type Subject = { [member: string]: Json | undefined };

function subjectOf({ policy_hash, intent: { tool, resource, effect_level, facts } }: Sealed): Subject {
  const { approved_intent_hash: intent_hash, approved_judged_hash: judged_hash } = facts;
  return { policy_hash, tool, resource, effect_level, intent_hash, judged_hash };
}

/** Throws unless a move is about this call (5.12). */
function assertSameCall(move: Sealed, call: Subject): void {
  for (const [name, value] of Object.entries(subjectOf(move))) {
    const isUnstated = name === 'intent_hash' && (value === undefined || call[name] === undefined);
    need(isUnstated || value === call[name], code, `5.12 ${name}`);
  }
}

/** Throws unless the votes are about this call, and none of their passkeys signed an earlier end (5.12, 6.7). */
function assertShown({ policy_hash, judged_hash, intent, created_at }: Sealed, { moves }: History): void {
  const { tool, resource, effect_level, intent_hash, action } = intent;
  for (const move of moves) {
    assertSameCall(move, { policy_hash, tool, resource, effect_level, intent_hash, judged_hash });
    const { credential, statement } = move.intent.facts;
    if (move.verdict !== 'ALLOW' || credential !== 'passkey' || !isObject(statement)) continue;
    need(statement['action'] === action, code, '6.7');
    need(created_at < String(statement['approval_expires_at']), code, '6.7');
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
