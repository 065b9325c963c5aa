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
  /** One sentence for people. It contains no argument values, except those that the sandbox and budget gates refuse. */
  reason: string;
  /** Every gate of gateOrder, in order. */
  trace: GateOutcome[];
  matched_rules: string[];
  /** Set on an ESCALATE by rules or budgets: the approval that they require. */
  approval_request?: NonNullable<PolicyRule['approval']>;
  /**
   * `true` when an approved, matching, unused grant turned an escalation into this ALLOW. The commit then consumes the
   * grant.
   */
  consumes_approval: boolean;
};
