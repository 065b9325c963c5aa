import type { History } from './approval-uses.ts';
import { need } from './fault.ts';
import { folded, laterBy } from './forms.ts';
import { rulesOf } from './rules.ts';
import type { Policy, Sealed } from './statements.ts';
import { canonical, isObject, type Json, type JsonObject } from './strict-json.ts';

const code = 'APPROVAL_CONTRADICTED';

type Terms = {
  quorum: number;
  approvers: Json[];
  scope: string;
  timeout: number;
  timelock: number;
  unchanged: boolean;
};
type Basis = { policy: Policy; isWhole: boolean };

/** Throws unless the approval satisfies each rule of the policy that escalated the call, and the budget (5.9, 5.13). */
export function assertTerms({ matched_rules, gates, created_at }: Sealed, history: History, basis: Basis): void {
  const names = new Set(matched_rules);
  const rules = rulesOf(basis.policy).filter(({ id, effect }) => effect === 'escalate' && names.has(String(id)));
  const terms = rules.map(({ approval }) => termsOf(isObject(approval) ? approval : {}));
  if (gates.some(({ gate, outcome }) => gate === 'budget' && outcome === 'escalate')) terms.push(termsOf({}));
  for (const term of terms) {
    if (basis.isWhole) assertQuorum(term, history);
    assertGrant(term, history, created_at);
  }
}

function termsOf(approval: JsonObject): Terms {
  const { quorum = 1, approvers = [], scope = 'once', timeout = 900, timelock = 0, unchanged } = approval;
  return {
    quorum: Number(quorum),
    approvers: Array.isArray(approvers) ? approvers : [],
    scope: String(scope),
    timeout: Number(timeout),
    timelock: Number(timelock),
    unchanged: unchanged !== undefined,
  };
}

function assertQuorum({ quorum, approvers }: Terms, { moves }: History): void {
  const isNamed = ({ principal_id }: Sealed) => approvers.length === 0 || approvers.includes(principal_id);
  if (moves.some((move) => move.kind === 'break_glass' && isNamed(move))) return;
  const people = new Set<string>();
  const owners = new Map<string, string>();
  for (const vote of moves) {
    const person = folded(vote.principal_id);
    const { credential, public_key: key } = vote.intent.facts;
    if (vote.verdict !== 'ALLOW') continue;
    if (credential === 'passkey' && key !== undefined) {
      const owner = owners.get(canonical(key)) ?? person;
      owners.set(canonical(key), owner);
      if (owner !== person) continue; // 6.7
    }
    if (vote.kind !== 'break_glass' && isNamed(vote)) people.add(person);
  }
  need(people.size >= quorum, code, '5.9');
}

function assertGrant(terms: Terms, { since, moves, uses }: History, calledAt: string): void {
  const last = moves.at(-1);
  if (last === undefined) return;
  const { approved_scope: scope, approved_preconditions: conditions } = last.intent.facts;
  const narrowest = scope === undefined ? terms.scope : String(scope);
  need(widthOf(narrowest) <= widthOf(terms.scope) && uses <= usesOf(terms.scope), code, '5.13');
  if (terms.unchanged && isObject(conditions)) need(conditions['budgets'] !== null, code, '5.13');
  need(calledAt < laterBy(since, terms.timeout * 1000), code, '5.13');
  if (last.kind !== 'break_glass') need(calledAt >= laterBy(last.created_at, terms.timelock * 1000), code, '5.13');
}

function usesOf(scope: string): number {
  if (scope === 'once') return 1;
  return scope.startsWith('uses:') ? Number(scope.slice('uses:'.length)) : Infinity;
}

/** Scopes from the narrowest to the widest: by their uses, then `session`, then `until`. */
function widthOf(scope: string): number {
  if (scope === 'until') return Infinity;
  return scope === 'session' ? Number.MAX_SAFE_INTEGER : usesOf(scope);
}
