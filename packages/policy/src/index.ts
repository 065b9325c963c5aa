export { parsePolicyBundle } from './parse-bundle.ts';
export { lineOfPath, linesOf } from './line-of-path.ts';
export { PolicyError } from './policy-error.ts';
export { compilePolicy } from './compile-policy.ts';
export { compileInTurns } from './compile-policy.ts';
export { failedTests, failedTestsInTurns } from './policy-tests.ts';
export { canonicalRule, missingCeiling } from './ceilings.ts';
export type { CompiledPolicy } from './compile-policy.ts';
export {
  declaredApart,
  effectDeclared,
  graverEffect,
  meaningOf,
  meaningsOf,
  mistakenFor,
  sentenceFor,
} from './declared-tools.ts';
export { deniedTools } from './denied-tools.ts';
export { destinationNamed, egressFact, provenanceFact, sandboxFact } from './demanded-facts.ts';
export type { HeldGrant } from './demanded-facts.ts';
export type { Destination } from './demanded-facts.ts';
export { toolsNamed } from './tools-named.ts';
export { remembered } from './remembered.ts';
export { foldedToolName } from './tool-name.ts';
export { isPersonName, samePerson } from './same-person.ts';
export { evaluateRules, evaluateRulesWithin } from './evaluate-rules.ts';
export { decisionWork, Work } from './work.ts';
export { decide } from './decide.ts';
export { verdictOfTrace } from './verdict-of-trace.ts';
export { confirmationSkewMaxMs } from './gates/policy.ts';
export { usesOf } from './approval-uses.ts';
export { fenceScopesOfTool } from './fence-scopes.ts';
export { wiredGates } from './gate-table.ts';
export { gates } from './gate-table.ts';
export type { GateTable } from './gate-table.ts';
export { compilePermission } from './permission.ts';
export type { Permission, PermissionVariables } from './permission.ts';
export { neededRelations } from './relations.ts';
export type { NeededRelations, RelationQuestion } from './relations.ts';
export { failClosedCodes } from './gate.ts';
export type { RuleEvaluator } from './gate.ts';
export { decideAgain } from './again/decide-again.ts';
export { decideAsRecorded } from './again/decide-as-recorded.ts';
export type { DecidedAgain } from './again/decide-again.ts';
export { testOfRecord } from './again/test-of-record.ts';
export { withTest } from './with-test.ts';
export { readFacts, restoreIntent, uncoveredReads } from './replay.ts';
export type { ArgumentValidator } from './argument-validator.ts';
export { writesOf } from './writes-of.ts';
export { isSchemaPrepared, prepareSchema, validateWithAjv } from './ajv-validator.ts';
export { grantsNoMore, ordinaryApproval } from './approval-request.ts';
export { unmetPrecondition } from './preconditions.ts';
export type { ApprovalRequest } from './approval-request.ts';
export type { Intent } from './intent.ts';
export type { Decision } from './decision.ts';
export type {
  ApprovalFact,
  BudgetFact,
  Demand,
  Fact,
  Facts,
  FenceInForce,
  IdentityFact,
  PolicyFact,
  RegistryFact,
  RelationshipFact,
} from './facts.ts';
