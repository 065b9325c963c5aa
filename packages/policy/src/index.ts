export { parsePolicyBundle } from './parse-bundle.ts';
export { PolicyError } from './policy-error.ts';
export type { PolicyErrorCode } from './policy-error.ts';
export { compilePolicy } from './compile-policy.ts';
export type { CompiledPolicy } from './compile-policy.ts';
export { evaluateRules } from './evaluate-rules.ts';
export type { RuleEnvironment } from './evaluate-rules.ts';
export { decide, decideFrom } from './decide.ts';
export type { DecisionInput } from './decide.ts';
export { gateRoster } from './gate-table.ts';
export { failClosedCodes } from './gate.ts';
export type { RuleEvaluator } from './gate.ts';
export { readFacts, restoreIntent, uncoveredReads } from './replay.ts';
export { validateWithAjv } from './ajv-validator.ts';
export type { ArgumentValidator } from './argument-validator.ts';
export { grantsNoMore, ordinaryApproval } from './approval-request.ts';
export type { ApprovalRequest } from './approval-request.ts';
export { TEST_NOW } from './policy-tests.ts';
export type { Intent } from './intent.ts';
export type { Decision, RuleOutcome } from './decision.ts';
export type {
  ApprovalFact,
  BudgetFact,
  Demand,
  EgressFact,
  Fact,
  Facts,
  FenceFact,
  IdentityFact,
  PolicyFact,
  ProvenanceFact,
  RegistryFact,
  RelationshipFact,
  SandboxFact,
  ScopesFact,
} from './facts.ts';
