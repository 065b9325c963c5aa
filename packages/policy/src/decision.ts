import type { GateOutcome, PolicyRule } from '@countersign/contracts/governance-kernel';
import type { ReasonCode, Verdict } from '@countersign/contracts';

/** The result of a bundle's rules for one call, before budgets and approvals. */
export type RuleOutcome =
  | { kind: 'allow'; rules: string[]; reason: string }
  | {
      kind: 'deny';
      rules: string[];
      reason: string;
      code: 'POLICY_DENIED' | 'NO_MATCHING_RULE' | 'POLICY_EVALUATION_ERROR' | 'PDP_UNAVAILABLE';
    }
  | { kind: 'escalate'; rules: string[]; reason: string; approval: NonNullable<PolicyRule['approval']> };

export type Decision = {
  verdict: Verdict;
  reason_code: ReasonCode;
  /** One sentence for people; never holds argument values. */
  reason: string;
  /** Every gate of gateOrder, in order. */
  trace: GateOutcome[];
  matched_rules: string[];
  /** Set on ESCALATE: what kind of approval the rule (or the budget) asks for. */
  approval_request?: NonNullable<PolicyRule['approval']>;
  /** True when an approved, matching, unused grant turned an escalation into this ALLOW; the commit then uses it up. */
  consumes_approval: boolean;
};
