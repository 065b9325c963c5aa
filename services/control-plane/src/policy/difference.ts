import type { Digest } from '@countersign/contracts';
import type { CompiledDraft, PolicyChange } from '@countersign/contracts/control-plane';
import type { PolicyBundle, PolicyInForce, PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalize, definedMembers } from '@countersign/crypto';
import { canonicalRule, type CompiledPolicy } from '@countersign/policy';

/** The changes of a draft to the rules in force. */
export function differenceOf(
  rules: readonly PolicyRule[],
  { policy_hash, bundle }: { policy_hash: Digest | null; bundle: Pick<PolicyInForce['bundle'], 'rules'> },
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

/** The changes of a bundle since the one before it, rule by rule. */
export function changeOf(before: PolicyBundle, after: PolicyBundle): PolicyChange {
  const { added, removed, changed } = differenceOf(after.rules, { policy_hash: null, bundle: before });
  const ruleOf = ({ rules }: PolicyBundle, rule_id: string) => rules.find(({ id }) => id === rule_id) ?? null;
  const { rules: _before, ...earlier } = before;
  const { rules: _after, ...later } = after;
  return {
    rules: [...added, ...removed, ...changed].map((rule_id) => ({
      rule_id,
      before: ruleOf(before, rule_id),
      after: ruleOf(after, rule_id),
    })),
    other_members: changedMembers(earlier, later),
  };
}

type Rest = Omit<PolicyBundle, 'rules'>;

function changedMembers(before: Rest, after: Rest): string[] {
  const textsOf = (members: Rest) =>
    new Map(Object.entries(definedMembers(members)).map(([name, value]) => [name, canonicalize(value)]));
  const [earlier, later] = [textsOf(before), textsOf(after)];
  const names = new Set([...earlier.keys(), ...later.keys()]);
  return [...names].filter((name) => earlier.get(name) !== later.get(name)).sort();
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
