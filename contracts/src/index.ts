export { evidenceAnswers } from './evidence-answers.ts';
export type { EvidenceAnswer } from './evidence-answers.ts';
export {
  ReceiptId,
  DecisionId,
  RecordId,
  ApprovalId,
  CheckpointId,
  BudgetId,
  RunId,
  TaskId,
  WorkspaceId,
  UserId,
  StepId,
  InviteId,
  ApiKeyId,
  SignInId,
  WhatIfId,
  AccessKeyId,
  ChallengeId,
  EventId,
  ConformanceReportId,
  TelemetryExportId,
  CommandId,
  PlanId,
  IncidentId,
  InstallId,
  ShimId,
  SubscriptionId,
  InvoiceId,
  CreditGrantId,
  LedgerTransactionId,
  CheckoutId,
  ProjectId,
  SandboxGrantId,
  ManifestId,
  HostChainId,
  HostDriftId,
  ScimTokenId,
  ComplianceReportId,
  ScimUserId,
  ScimGroupId,
  SnapshotId,
  storableText,
  Digest,
  Instant,
  ControlVersion,
  Currency,
  AmountMinor,
  TenantId,
  PrincipalId,
  SessionId,
  ActionName,
  ToolName,
  ResourceName,
  EffectLevel,
  Verdict,
  type PlainJson,
  argumentsDepthMax,
  CallArguments,
  CallMembers,
  PlainObject,
  sha256Of,
  instantOf,
  instantOrNull,
} from './scalars.ts';
export { AuditExportEnd, auditMembers, AuditVerdict } from './audit.ts';
export {
  commercialAssertionTerms,
  CommercialPersonClaims,
  DelegationClaims,
  delegationTerms,
  fromThisMachineHeader,
  hasRole,
  ProofMethod,
  personAssertionTerms,
  PersonClaims,
  PersonRole,
  speakingHeaders,
} from './person-assertion.ts';
export { KeyClaims, keyAssertionTerms, type KeyAudience } from './key-assertion.ts';
export { ApiKeyEnvironment, ApiKeyScope, defaultKeyScopes } from './api-key-terms.ts';
export {
  AssertionRole,
  assertionTerms,
  assertionHeader,
  AssertionClaims,
  agentOf,
  keyOfPrincipal,
  keyPrincipal,
} from './assertion.ts';
export { windowStartMs } from './budget-window.ts';
export { EmailAddress, domainOf } from './email-address.ts';
export { currencies, minorDigitsOf } from './currencies.ts';
export {
  decimalOfMinor,
  microsPerMinor,
  SpendMicros,
  microsOf,
  minorOfDecimal,
  minorTaken,
  minorLeft,
} from './money.ts';
export { toolOfFunctionName } from './tool-name.ts';
export { isList } from './is-list.ts';
export { JsonDifference, jsonDifferences } from './json-differences.ts';
export { visibleText } from './visible-text.ts';
export { outsideNames, unseenCharacters } from './unseen-characters.ts';
export {
  AuthMechanism,
  ReportedBody,
  ReportedMember,
  ReportedQuery,
  ToldCaller,
  ToldRequest,
  toldRequestHeaders,
} from './told-request.ts';
export { DecisionObstacle, isOwnRequest, mayNotDecide, obstacleSays } from './decision-obstacle.ts';
export { errorCodes, ErrorCode } from './error-codes.ts';
export { ErrorType } from './error-type.ts';
export { isAppError, ErrorEnvelope, AppError } from './errors.ts';
export { gateOrder, GateName, reasonCodes, ReasonCode } from './reason-codes.ts';
export {
  defineRoute,
  agentDoors,
  Door,
  pathParams,
  workspaceParamOf,
  type Method,
  type AuthClass,
  type Media,
  type Shape,
  type RouteDefinition,
  type Route,
  type AnyRoute,
} from './route.ts';
export { Right, rightsOf, mayDo, mayCall, holdsAll, type Rights } from './rights.ts';
export { showFrontPage, getOpenApi, showDocs } from './front-page.ts';
export { getLiveness, getReadiness, Liveness, ProbeName, ProbeState, Readiness } from './health-probes.ts';
export { page, camelPage, pageLimit, PageQuery } from './list.ts';
export { CallFailed, urlOf, type CallFault, type CallInput, type ClientOptions } from './call.ts';
export { startDeadline, type Deadline } from './deadline.ts';
export { createClient, createRawClient, type Answer, type Client, type RawAnswer, type RawClient } from './client.ts';
export { defineEvent, type CloudEvent, type EventDefinition, type EventOf, CloudEventEnvelope } from './event.ts';
export { unsupportedGrant } from './oauth-grant.ts';
