import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalize, parsePlainJson } from '@countersign/crypto';

const prefix = 'ceiling.';

/** The canonical text of a rule: two rules are one when their texts are. */
export function canonicalRule(rule: PolicyRule): string {
  return canonicalize(parsePlainJson(JSON.parse(JSON.stringify(rule)))); // drops members that are undefined
}

/** The ceilings of a bundle, by their canonical text. */
export function ceilingsIn(rules: readonly PolicyRule[]): ReadonlyMap<string, string> {
  const ceilings = rules.filter(({ id }) => id.startsWith(prefix));
  return new Map(ceilings.map((rule) => [canonicalRule(rule), rule.id]));
}

type Holder = { readonly ceilings: ReadonlyMap<string, string> };

/**
 * The id of a rule in which the ceilings of a bundle differ from those in force, given as canonical texts. The bundle
 * does not hold the rule word for word, or holds one beyond them. Null: it holds each of them, and no other.
 */
export function missingCeiling({ ceilings }: Holder, inForce: readonly string[]): string | null {
  const lacking = inForce.find((text) => !ceilings.has(text));
  if (lacking !== undefined) return (JSON.parse(lacking) as PolicyRule).id; // a canonical rule
  const wanted = new Set(inForce);
  for (const [text, id] of ceilings) if (!wanted.has(text)) return id;
  return null;
}
