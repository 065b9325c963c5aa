import type { CompiledDraft } from '@countersign/contracts/control-plane';
import type { PolicyInForce, PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalRule, type CompiledPolicy } from '@countersign/policy';

/** The changes of a draft to the rules in force. */
export function differenceOf(
  rules: readonly PolicyRule[],
  { policy_hash, bundle }: Pick<PolicyInForce, 'policy_hash' | 'bundle'>,
): CompiledDraft['diff'] {
  const before = new Map(bundle.rules.map((rule) => [rule.id, canonicalRule(rule)]));
  const after = new Map(rules.map((rule) => [rule.id, canonicalRule(rule)]));
  return {
    base_hash: policy_hash,
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    changed: [...after].filter(([id, text]) => before.has(id) && before.get(id) !== text).map(([id]) => id),
  };
}

const doing = { deny: 'denies', escalate: 'asks a person about', allow: 'allows' } as const;

/** One sentence per rule, in order of precedence, and the default for all other calls. */
export function summaryOf({ bundle }: CompiledPolicy): string[] {
  const order = ['deny', 'escalate', 'allow'] as const;
  const sentences = order.flatMap((effect) => bundle.rules.filter((rule) => rule.effect === effect).map(sentenceOf));
  return [...sentences, 'Calls that no rule covers are denied.'];
}

function sentenceOf({ id, effect, match, when, reason }: PolicyRule): string {
  const pieces = Object.entries(match).map(([member, values]) => `${member} ${values.join(' or ')}`);
  const what = pieces.length === 0 ? 'every call' : `calls with ${pieces.join(' and ')}`;
  const where = when === undefined ? '' : `, where ${when.trim().replaceAll(/\s+/g, ' ')}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  return `"${id}" ${doing[effect]} ${what}${where}${why}.`;
}
