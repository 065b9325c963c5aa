import { need } from './fault.ts';
import type { Schemas } from './schema.ts';
import type { Policy, Sealed } from './statements.ts';
import { isObject, type JsonObject } from './strict-json.ts';

const code = 'POLICY_MISMATCH';

export function rulesOf({ bundle }: Policy): JsonObject[] {
  return Array.isArray(bundle['rules']) ? bundle['rules'].filter(isObject) : [];
}

/** Throws unless the bundle is a policy with at most 5,000 rules and unique ids (7.3). */
export function assertBundle(policy: Policy, schemas: Schemas): void {
  const { format, rules } = policy.bundle;
  need(format === 'countersign/policy.v1' && Array.isArray(rules) && rules.length <= 5000, code, '7.3');
  need(
    rules.every((rule) => schemas.hasForm(rule, 'PolicyRuleInput')),
    code,
    '7.3',
  );
  const ids = rulesOf(policy).map(({ id }) => id);
  need(new Set(ids).size === rules.length, code, '7.3');
}

/** Throws unless an ALLOW names rules of its policy, with the effect of its gate `rules` (11.15). */
export function assertRules({ kind, verdict, gates, matched_rules }: Sealed, policy: Policy): void {
  if (kind !== 'decision' || verdict !== 'ALLOW') return;
  const isEscalated = gates.some(({ gate, outcome }) => gate === 'rules' && outcome === 'escalate');
  const effects = new Map(rulesOf(policy).map(({ id, effect }) => [id, effect]));
  need(matched_rules.length > 0 && new Set(matched_rules).size === matched_rules.length, code, '11.15');
  for (const id of matched_rules) need(effects.get(id) === (isEscalated ? 'escalate' : 'allow'), code, '11.15');
}
