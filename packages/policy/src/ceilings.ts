import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalize, definedMembers } from '@countersign/crypto';

const prefix = 'ceiling.';

/** The canonical text of a rule. Rules with equal texts are equal. */
export function canonicalRule(rule: PolicyRule): string {
  return canonicalize(definedMembers(rule));
}

/** The ceilings of a bundle, by their canonical text. */
export function ceilingsIn(rules: readonly PolicyRule[]): ReadonlyMap<string, string> {
  const ceilings = rules.filter(({ id }) => id.startsWith(prefix));
  return new Map(ceilings.map((rule) => [canonicalRule(rule), rule.id]));
}

type Holder = { readonly ceilings: ReadonlyMap<string, string> };

/**
 * The id of the first rule in which the ceilings of a bundle differ from the current ones. The current ceilings are
 * canonical texts. The bundle lacks that exact rule, or has it in addition. `null` when the ceilings are the same.
 */
export function missingCeiling({ ceilings }: Holder, inForce: readonly string[]): string | null {
  const lacking = inForce.find((text) => !ceilings.has(text));
  if (lacking !== undefined) return (JSON.parse(lacking) as PolicyRule).id; // a canonical rule
  const wanted = new Set(inForce);
  for (const [text, id] of ceilings) if (!wanted.has(text)) return id;
  return null;
}
