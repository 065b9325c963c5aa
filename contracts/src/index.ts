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
  AccessKeyId,
  ChallengeId,
  EventId,
  ConformanceReportId,
  TelemetryExportId,
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
} from './scalars.ts';
export { fromThisMachineHeader, ProofMethod, personAssertionTerms, PersonClaims } from './person-assertion.ts';
export {
  AssertionRole,
  assertionTerms,
  assertionHeader,
  AssertionClaims,
  agentOf,
  keyOfPrincipal,
  keyPrincipal,
} from './assertion.ts';
export { microsPerMinor, SpendMicros, microsOf, minorTaken, minorLeft } from './money.ts';
export { toolOfFunctionName } from './tool-name.ts';
export { isAppError, ErrorType, errorCodes, ErrorCode, ErrorEnvelope, AppError } from './errors.ts';
export { gateOrder, GateName, reasonCodes, ReasonCode } from './reason-codes.ts';
export {
  defineRoute,
  agentDoors,
  Door,
  pathParams,
  type Method,
  type AuthClass,
  type Media,
  type Shape,
  type RouteDefinition,
  type Route,
  type AnyRoute,
} from './route.ts';
export { showFrontPage, getOpenApi, showDocs } from './front-page.ts';
export { page, camelPage, pageLimit, PageQuery } from './list.ts';
export { CallFailed, urlOf, type CallFault, type CallInput, type ClientOptions } from './call.ts';
export { createClient, createRawClient, type Answer, type Client, type RawAnswer, type RawClient } from './client.ts';
export { defineEvent, type CloudEvent, type EventDefinition, type EventOf, CloudEventEnvelope } from './event.ts';
