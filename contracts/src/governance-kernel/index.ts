export { showFrontPage, getOpenApi } from '../front-page.ts';
export { getLiveness, getReadiness } from '../health-probes.ts';
export { ReceiptKind, Outcome, ReceiptPayload, Signature, SignedReceipt, StoredReceipt } from './receipt.ts';
export {
  GateOutcome,
  CappedFacts,
  RecordedIntent,
  Demand,
  BudgetRemainder,
  RecordedFence,
  RecordedIdentity,
  BoundaryRecord,
  recordedFactBytesMax,
  ShadowFault,
  ShadowVerdict,
  shadowRulesMax,
} from './boundary-record.ts';
export {
  shownFencesMax,
  shownReceiptsMax,
  countedMax,
  BoundaryStatus,
  getBoundaryStatus,
  Capability,
  listBoundaryCapabilities,
  getConsoleBootstrap,
  SurfaceId,
  listConsoleSurfaces,
  getConsoleSurface,
} from './standing.ts';
export {
  getOtelConfig,
  getCoexistenceCapabilities,
  exportTelemetry,
  TelemetryDelivery,
  exportedReceiptsMax,
} from './telemetry.ts';
export { EntityName, EntityType, RelationName, SubjectName, RelationTuple } from './relation-names.ts';
export {
  IdentityDemand,
  RuleId,
  PolicyRule,
  PolicyRelation,
  PolicyTest,
  PolicyBundle,
  bundleBytesMax,
  bundleValuesMax,
} from './policy-bundle.ts';
export {
  PolicyActivation,
  PolicyStatementFacts,
  ActivePolicy,
  PolicyTenant,
  BundleActivation,
  putPolicyBundle,
} from './policy.ts';
export { PolicyInForce, getPolicyBundle, getPolicyInForce } from './policy-in-force.ts';
export { EarlyWitness, LedgerEntry, ledgerEntriesMax, listLedgerEntries } from './ledger-entries.ts';
export { fenceLiftResource, GovernedChange, isGovernedChange } from './governed-changes.ts';
export { leastEffectOf } from './least-effects.ts';
export { PolicyCeiling, PolicyCeilings, getPolicyCeilings, putPolicyCeilings } from './policy-ceilings.ts';
export { DeclaredDemand, EvaluateRequest, ApprovalHandle, BudgetUse, DecisionReply, evaluate } from './evaluate.ts';
export { healthz, version } from './health.ts';
export { listReceipts, getReceipt, tailReceipts, exportReceipts } from './receipts.ts';
export {
  listRecords,
  getRecord,
  verifyRecord,
  Checkpoint,
  listCheckpoints,
  createCheckpoint,
  verifyCheckpoint,
} from './boundary.ts';
export {
  getLatestCheckpoint,
  InclusionProof,
  getInclusionProof,
  getConsistencyProof,
  KeyPurpose,
  TrustKey,
  listTrustKeys,
} from './log.ts';
export {
  ApprovalReason,
  ApprovalDecision,
  ApprovalPreconditions,
  ApprovalState,
  Approval,
  listApprovals,
  createApproval,
  transitionApproval,
  withdrawApproval,
  ApprovalStatement,
  approveByKernel,
} from './approvals.ts';
export {
  CeremonyStatement,
  ApprovalMoveEvidence,
  BrokenGlassEvidence,
  brokenGlassMs,
  CeremonyEvidence,
  VoucherEvidence,
  AuthenticatorClientData,
  challengeApproval,
  assertApproval,
} from './approval-ceremony.ts';
export {
  CredentialId,
  PasskeyPublicKey,
  PasskeyState,
  Passkey,
  PasskeyAssertion,
  PasskeyAttestation,
  registerPasskey,
  verifyPasskey,
  listPasskeys,
  revokePasskey,
  VoucherStatement,
  challengeVoucher,
  vouchForPasskey,
  acceptPasskey,
  ApprovalTerms,
  putApprovalTerms,
} from './passkeys.ts';
export { SignInStatement, challengeSignIn, assertSignIn, revokeOwnPasskey } from './passkey-sign-in.ts';
export {
  showPasskeyScript,
  challengeOnPage,
  assertOnPage,
  registerOnPage,
  verifyOnPage,
  showWaitingPasskeys,
  challengeVoucherOnPage,
  vouchOnPage,
} from './passkey-pages.ts';
export { showApprovalPage, signInApprover, signOutApprover, voteOnPage } from './approval-pages.ts';
export {
  AccessKeyKind,
  NewAccessKey,
  AccessKey,
  createAccessKey,
  listAccessKeys,
  revokeAccessKey,
} from './access-keys.ts';
export {
  KeyThumbprint,
  agentTokenTerms,
  AgentTokenHeader,
  AgentTokenClaims,
  EnrolmentProofHeader,
  EnrolmentProofClaims,
} from './agent-token.ts';
export {
  IdentityKind,
  IdentityState,
  identityKeysMax,
  Identity,
  listAgents,
  listOperators,
  putIdentity,
  revokeIdentity,
  createKeyChallenge,
  enrolIdentityKey,
  revokeIdentityKey,
} from './identity.ts';
export {
  installationCeiling,
  isCeiling,
  budgetsOfSubjectMax,
  BudgetSubject,
  BudgetWindow,
  BudgetAmounts,
  Budget,
  getBudget,
  listBudgets,
  putBudget,
  putCeiling,
  recordBudgetUsage,
} from './budgets.ts';
export {
  FenceScope,
  FenceKind,
  Fence,
  CallInFlight,
  callsInFlightMax,
  putFence,
  getFence,
  listFences,
} from './fences.ts';
export { OrgId, putTenant } from './tenants.ts';
export { ActivationSignature, confirmActivation, createActivationSignature } from './activation-signatures.ts';
export { shadowLanesMax, LaneName, ShadowLane, putShadowLane, deleteShadowLane } from './shadow-lanes.ts';
export {
  EntityChange,
  TuplePrecondition,
  RelationshipChanges,
  RelationSnapshot,
  PermissionModel,
  CheckReason,
  writeRelationships,
  listSubjectRelations,
  subjectTuplesMax,
  putPermissionModel,
  checkRelation,
  getAuthzHealth,
  listRelationSnapshots,
  getRelationSnapshot,
} from './relations.ts';
export {
  AccessRequest,
  AccessDecision,
  AccessBatch,
  evaluateAccess,
  evaluateAccesses,
  searchSubjects,
  searchResources,
  searchActions,
  getAuthzenConfiguration,
} from './authzen.ts';
export { putMembers } from './members.ts';
export { BlockedTools, ToolBlocks, putToolBlocks } from './tool-blocks.ts';
export { callsPerAnswerMax, ChatCompletionRequest, createChatCompletion, getModel, listModels } from './chat.ts';
export { Action, listActions } from './actions.ts';
export {
  type DriftedTool,
  listDriftedTools,
  listRegisteredTools,
  RegisteredTool,
  toldDefinitionBytesMax,
} from './registered-tools.ts';
export { describeMcp, callMcp, McpTool, listMcpCapabilities, McpExecution, executeMcp } from './mcp.ts';
export { DemoAction, runDemo, verifyDemo, tamperDemo } from './demo.ts';
export {
  ExportedProof,
  ExportedReceipt,
  ExportedHead,
  ExportHeader,
  HeadStatement,
  LinkedCheckpoints,
  linkedCheckpointsMax,
  LogPath,
} from './chain-export.ts';
export { ExportQuery } from './export-query.ts';
export { ExportLine } from './export-line.ts';
export { PeriodHeader, ExportedPeriod, PeriodStatement, type PeriodSession } from './period-export.ts';
export {
  VectorId,
  FactName,
  VectorFault,
  InProcessVector,
  VectorDoor,
  type CallStep,
  VectorStep,
  LiveVector,
  ConformanceVector,
  VectorList,
  conformanceTenantPrefix,
  tenantOfVector,
  sessionOfRun,
} from './conformance-vectors.ts';
export {
  ConformanceScope,
  VectorResult,
  ConformanceReport,
  ReportSummary,
  SignedConformanceReport,
  ConformanceFacts,
  ConformanceProof,
  runConformance,
  listConformanceReports,
  getConformanceReport,
  listConformanceVectors,
  listNegativeVectors,
} from './conformance.ts';
export {
  fenceSet,
  kernelApprovalRequested,
  kernelGlassBroken,
  kernelApprovalResolved,
  kernelBudgetThreshold,
  kernelFenceSet,
  kernelIdentityRevoked,
} from './events.ts';
export { kernelRoutes } from './routes.ts';
export { createKernelClient, type KernelClient, type KernelClientOptions, type Speaker } from './client.ts';
export { BoundaryTargets, listBoundaryTargets, shownTargetsMax } from './boundary-targets.ts';
