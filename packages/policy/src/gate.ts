import type { GateName, ReasonCode } from '@countersign/contracts';
import type { ApprovalRequest } from './approval-request.ts';
import type { ArgumentValidator } from './argument-validator.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { RuleOutcome } from './decision.ts';
import type { RuleEnvironment } from './evaluate-rules.ts';
import type { Facts } from './facts.ts';
import type { Intent } from './intent.ts';

export type RuleEvaluator = (policy: CompiledPolicy, intent: Intent, environment: RuleEnvironment) => RuleOutcome;

/** An approval request of a rule or a budget, which the approval gate answers. */
export type Ask = { code: ReasonCode; reason: string; approval: ApprovalRequest };

export type GateInput = {
  policy: CompiledPolicy | null;
  intent: Intent;
  facts: Facts;
  evaluate: RuleEvaluator;
  validateArguments: ArgumentValidator;
  /** The approval requests of the gates before this one. */
  asks: readonly Ask[];
};

/**
 * After `escalate`, no further gate runs. After `ask`, the next gates still run: a later gate may deny, and the
 * approval gate decides last.
 */
export type GateResult =
  | { outcome: 'pass'; detail?: string; rules?: string[]; reason?: string; consumes_approval?: boolean }
  | { outcome: 'not_applicable' }
  | { outcome: 'deny'; code: ReasonCode; reason: string; rules?: string[] }
  | { outcome: 'escalate'; code: ReasonCode; reason: string; approval?: ApprovalRequest }
  | { outcome: 'ask'; ask: Ask; rules: string[] };

/** A gate returns a result for every input. It denies when it cannot judge the facts. */
export type Gate = (input: GateInput) => GateResult;

/** The code with which each gate denies when its facts are unavailable or cannot be judged. */
export const failClosedCodes: Record<GateName, ReasonCode> = {
  request: 'MALFORMED_ARGUMENTS',
  fence: 'FENCE_UNAVAILABLE',
  policy: 'POLICY_MISSING',
  identity: 'AGENT_UNKNOWN',
  relationship: 'AUTHZ_SNAPSHOT_STALE',
  registry: 'REGISTRY_UNAVAILABLE',
  arguments: 'SCHEMA_VIOLATION',
  scopes: 'INSUFFICIENT_SCOPE',
  sandbox: 'SANDBOX_GRANT_MISSING',
  egress: 'EGRESS_BLOCKED',
  provenance: 'DIRECT_UPSTREAM_BYPASS',
  rules: 'PDP_UNAVAILABLE',
  budget: 'BUDGET_UNAVAILABLE',
  approval: 'APPROVAL_MISMATCH',
};

export const pass: GateResult = { outcome: 'pass' };
export const notApplicable: GateResult = { outcome: 'not_applicable' };

export function deny(code: ReasonCode, reason: string): GateResult {
  return { outcome: 'deny', code, reason };
}

export function unavailable(gate: GateName): GateResult {
  return deny(failClosedCodes[gate], `The facts of the gate "${gate}" are not available.`);
}
