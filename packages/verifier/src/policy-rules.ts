import { PolicyBundle } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, PolicyRule } from '@countersign/contracts/governance-kernel';
import { ordinaryApproval, type ApprovalRequest } from '@countersign/policy';
import { VerificationError } from './verification-error.ts';

/** `approval`: the terms of a rule that escalates. */
type Rule = { effect: PolicyRule['effect']; approval: ApprovalRequest };
export type PolicyRules = ReadonlyMap<string, Rule>;

/** The rules of a bundle by id. Throws {@link VerificationError} `POLICY_MISMATCH` for a value that is no bundle. */
export function rulesOfBundle({ format, rules }: Readonly<Record<string, unknown>>): PolicyRules {
  const parsed = PolicyBundle.shape.rules.safeParse(rules).data;
  if (format !== PolicyBundle.shape.format.value || parsed === undefined) throw mismatch('the bundle is not a policy');
  const found = new Map<string, Rule>(
    parsed.map(({ id, effect, approval = ordinaryApproval }) => [id, { effect, approval }]),
  );
  if (found.size !== parsed.length) throw mismatch('the bundle has two rules with one id');
  return found;
}

/**
 * The terms of the approval that an ALLOW required under these rules. The rules gate passes only by rules that allow,
 * and escalates only by rules that escalate. Throws {@link VerificationError} `POLICY_MISMATCH`.
 */
export function termsUnder(rules: PolicyRules, record: BoundaryRecord): ApprovalRequest[] {
  const { kind, verdict, gates, matched_rules } = record;
  if (kind !== 'decision' || verdict !== 'ALLOW') return [];
  const escalating = gates.filter(({ outcome }) => outcome === 'escalate').map(({ gate }) => gate);
  const effect = escalating.includes('rules') ? 'escalate' : 'allow';
  if (matched_rules.length === 0) throw mismatch('an allowed call names no rule of its policy');
  if (new Set(matched_rules).size !== matched_rules.length) throw mismatch('an allowed call names a rule twice');
  const matched = matched_rules.map((id) => rules.get(id));
  if (matched.some((rule) => rule?.effect !== effect))
    throw mismatch(`an allowed call names a rule that is not a rule of its policy with the effect ${effect}`);
  const terms = effect === 'escalate' ? matched.flatMap((rule) => rule?.approval ?? []) : [];
  return escalating.includes('budget') ? [...terms, ordinaryApproval] : terms;
}

function mismatch(message: string): VerificationError {
  return new VerificationError('POLICY_MISMATCH', message);
}
