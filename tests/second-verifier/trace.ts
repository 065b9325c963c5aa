import { need } from './fault.ts';
import { hashOf } from './forms.ts';
import type { Gate, Sealed } from './statements.ts';
import { isObject, type Json, type JsonObject } from './strict-json.ts';

// 4.1
const roster = [
  ...['request', 'fence', 'policy', 'identity', 'relationship', 'registry', 'arguments', 'scopes', 'sandbox'],
  ...['egress', 'provenance', 'rules', 'budget', 'approval'],
];
const code = 'VERDICT_MISMATCH';

/** Throws unless the gates of a record result in its verdict (4). */
export function assertTrace(record: Sealed): void {
  const names = record.gates.map(({ gate }) => gate);
  const expected = record.kind === 'decision' ? roster : [];
  need(names.length === expected.length && names.every((name, at) => name === expected[at]), code, '4.1');
  need(hashOf(names) === record.gate_roster_hash, 'ROSTER_HASH_MISMATCH', '4.2');
  if (record.kind !== 'decision') return;
  const outcomes = new Map(record.gates.map(({ gate, outcome }) => [gate, outcome]));
  assertEnd(record);
  if (record.verdict === 'ALLOW') assertAllowed(record, outcomes);
  const rules = outcomes.get('rules'); // 4.6
  need(record['tool_blocked'] !== true || rules === 'deny' || rules === 'not_reached', code, '4.6');
}

const verdictOf: Readonly<Record<string, string>> = { deny: 'DENY', escalate: 'ESCALATE' };

function assertEnd({ gates, verdict, reason_code }: Sealed): void {
  const end = gates.findLastIndex(({ outcome }) => outcome !== 'not_reached'); // 4.3
  const last: Gate | undefined = gates[end];
  need(last !== undefined, code, '4.3');
  need(!gates.slice(0, end).some(({ outcome }) => ['deny', 'not_reached'].includes(outcome)), code, '4.3');
  const stopped = verdictOf[last.outcome];
  if (stopped !== undefined) return need(verdict === stopped && reason_code === last.reason_code, code, '4.3');
  need(last.gate === 'approval' && verdict === 'ALLOW' && reason_code === 'ALLOWED', code, '4.3');
  const isEscalated = gates.some(({ outcome }) => outcome === 'escalate');
  need(!isEscalated || last.outcome === 'pass', code, '4.3');
}

function assertAllowed(record: Sealed, outcomes: ReadonlyMap<string, string>): void {
  for (const gate of ['request', 'fence', 'policy', 'identity']) need(outcomes.get(gate) === 'pass', code, '4.4');
  need(['pass', 'escalate'].includes(outcomes.get('rules') ?? ''), code, '4.4');
  for (const [gate, outcome] of outcomes)
    need(outcome !== 'escalate' || gate === 'rules' || gate === 'budget', code, '4.4');
  need(record.policy_hash !== null, code, '4.5');
  const fences: Json | undefined = record['fences'];
  need(!Array.isArray(fences) || fences.every(isOpen), code, '4.5');
  const identity: Json | undefined = record['identity'];
  need(isObject(identity) && identity['credential_state'] === 'active', code, '4.5');
  need(identity['enrolment'] !== 'revoked', code, '4.5');
  const { budgets, demand } = record as JsonObject; // 4.7
  const isCovered = (budget: Json) =>
    isObject(budget) && isObject(demand ?? null) && covers(budget, demand as JsonObject); // checked before
  need(Array.isArray(budgets) && budgets.every(isCovered), code, '4.7');
}

const amounts = [
  ['tool_calls_remaining', 'tool_calls'],
  ['spend_remaining_micros', 'spend_micros'],
  ['egress_remaining_bytes', 'egress_bytes'],
  ['writes_remaining', 'writes'],
] as const;

/** Whether the remainder of a budget covers the demand. A remainder of `null` is no limit (4.7). */
function covers(budget: JsonObject, demand: JsonObject): boolean {
  return amounts.every(([remainder, amount]) => {
    const [rest, demanded] = [budget[remainder] ?? null, demand[amount] ?? null];
    return rest === null || (demanded !== null && BigInt(String(demanded)) <= BigInt(String(rest)));
  });
}

function isOpen(fence: Json): boolean {
  if (!isObject(fence) || fence['kind'] !== 'throttle') return false;
  const remaining = fence['calls_remaining'] ?? null;
  return remaining === null || (typeof remaining === 'number' && remaining > 0);
}
