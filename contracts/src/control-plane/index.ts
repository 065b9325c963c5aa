export { getLiveness, getReadiness } from '../health-probes.ts';
export { showFrontPage, getOpenApi } from '../front-page.ts';
export { getHealth } from './health.ts';
export { beginLogin, finishLogin, LoginProof, refreshSession } from './login.ts';
export { InboxApproval, listInboxApprovals, resolveApproval } from './approvals.ts';
export {
  Changed,
  examplesMax,
  VerdictAgain,
  WhatIfQuestion,
  WhatIfReport,
  whatIfDecisionsMax,
} from './what-if-report.ts';
export { showConsole, showConsolePage, showConsoleObject, getConsoleFile } from './console.ts';
export { SetupStep, bootstrapOrg, getBootstrap } from './bootstrap.ts';
export {
  ConsoleWorkspace,
  ConsoleWorkspaceWithMembers,
  PublicProof,
  listConsoleWorkspaces,
  createConsoleWorkspace,
  getConsoleWorkspace,
  putConsoleWorkspace,
  createConsoleMember,
  putConsoleMember,
  deleteConsoleMember,
} from './workspaces.ts';
export { ConsoleAction, listConsoleActions } from './actions.ts';
export { ConsoleTask, createConsoleTask, listConsoleTasks } from './tasks.ts';
export { listConsoleTools, listToolDrift, type ToolDrift } from './tools.ts';
export {
  ConsoleRun,
  ConsoleStep,
  ConsoleRunWithSteps,
  CheckedReceipt,
  createConsoleRun,
  listConsoleRuns,
  getConsoleRun,
  listRunReceipts,
} from './runs.ts';
export { PolicyDraft } from './policy-draft.ts';
export { deletePolicyShadow, PolicyShadow, putPolicyShadow, ShadowHour } from './policy-shadows.ts';
export {
  getPolicyDraft,
  putPolicyDraft,
  createPolicyTest,
  compilePolicyDraft,
  createWhatIf,
  getWhatIf,
  getActivePolicy,
  activatePolicy,
  CompiledDraft,
  PolicyDiagnostic,
  reportedDecisionsMin,
  WhatIfJob,
} from './policy.ts';
export {
  freezeTarget,
  getOps,
  listOpsTargets,
  OpsCommand,
  OpsTarget,
  type OpsOverview,
  quarantineTarget,
  resumeTarget,
  type Resynced,
  ResyncState,
  resyncTarget,
  throttleTarget,
  unconfirmedMax,
  type GivenCommand,
  type StandingFence,
  CommandKind,
  StopKind,
} from './ops.ts';
export {
  BlastRadius,
  createBlastRadius,
  PlanStep,
  PlanSteps,
  radiusReceiptsMax,
  relatedAgentsMax,
} from './blast-radius.ts';
export { approvePlan, commitPlan, createPlan, getPlan, Plan, PlanState } from './plans.ts';
export {
  createIncident,
  getIncident,
  Incident,
  IncidentCategory,
  IncidentEntry,
  incidentListsMax,
  incidentMoves,
  IncidentSeverity,
  IncidentState,
  type IncidentSummary,
  listIncidents,
  transitionIncident,
} from './incidents.ts';
export { createSupportReport, SupportReport } from './support.ts';
export {
  anonymousActor,
  ownActor,
  AuditScope,
  ScopedAuditEntry,
  ScopedAuditHeader,
  listAuditEntries,
  exportAuditEntries,
} from './audit.ts';
export {
  HandleId,
  EvidenceHandle,
  createEvidenceHandle,
  getEvidenceHandle,
  listEvidenceHandles,
  NamedId,
  NamedKind,
  type HandleSummary,
  revokeEvidenceHandle,
} from './evidence-handles.ts';
export {
  PublicReceipt,
  PublicApproval,
  type PublicLogProof,
  getPublicReceipt,
  getPublicApproval,
  getSigningKey,
} from './public-proof.ts';
export {
  createReplay,
  getPublicReplay,
  getReplay,
  PublicReplay,
  Replay,
  ReplayDetails,
  ReplayFindings,
  ReplayId,
  ReplayQuestion,
  replayReceiptsMax,
} from './replays.ts';
export { Verification, checkExport } from './verification.ts';
export { beginReauth, finishReauth } from './reauth.ts';
export { beginPasskey, finishPasskey } from './passkeys.ts';
export {
  OAuthError,
  DeviceLogin,
  DeviceTokens,
  deviceCodeGrant,
  deviceTokenPrefix,
  beginDeviceLogin,
  createDeviceToken,
  getDeviceLogin,
  answerDeviceLogin,
} from './device.ts';
export {
  SessionView,
  SessionOverview,
  ProviderIdentityId,
  getSession,
  deleteSession,
  endCredential,
} from './session.ts';
export { introspectSession, listLiveSessions } from './introspection.ts';
export {
  createSessionTicket,
  getSnapshot,
  Hint,
  HintType,
  openConsoleSocket,
  openTelemetrySocket,
  Snapshot,
  socketEndCodes,
  socketProtocols,
  TelemetryNumbers,
  ticketProtocolPrefix,
  ticketSeconds,
} from './realtime.ts';
export { cookieNames, refreshPath, signInCookieNames } from './cookies.ts';
export { finishOidcLogin, listOidcConnections, OidcConnectionId } from './oidc.ts';
export { incidentMoved, policyActivated, sessionEnded } from './events.ts';
export { controlPlaneRoutes } from './routes.ts';
