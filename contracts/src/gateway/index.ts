export { showFrontPage, getOpenApi, showDocs } from '../front-page.ts';
export { getLiveness, getReadiness } from '../health-probes.ts';
export {
  User,
  requestEmailCode,
  SignedIn,
  verifyEmailCode,
  signInByMessenger,
  endSession,
  Session,
  listSessions,
  revokeSession,
} from './identity.ts';
export { sendSignInCode, proveAddress, sendUserCode, proveUser, tellMembers } from './directory.ts';
export { ApiKeyRole, ApiKeyScope, ApiKey, createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
export {
  Role,
  WorkspaceMode,
  PathId,
  WorkspaceQuery,
  WorkspaceBody,
  Workspace,
  getWorkspace,
  openWorkspace,
  putWorkspace,
  applyWorkspaceSettings,
  PolicyConfig,
  BudgetConfig,
  ModelConfig,
  WorkspaceSettings,
  getWorkspaceSettings,
  putWorkspaceSettings,
  putWorkspaceMode,
  listModes,
} from './workspaces.ts';
export {
  getMe,
  InviteToMe,
  joinByInvite,
  listInvitesToMe,
  InvitedRole,
  createInvite,
  Invite,
  listInvites,
  revokeInvite,
  showInvite,
  acceptInvite,
  putMemberRole,
  removeMember,
  leaveWorkspace,
} from './members.ts';
export {
  NotificationType,
  Notification,
  Subscription,
  createSubscription,
  listSubscriptions,
  endSubscription,
  rotateWebhookSecret,
  listNotifications,
  redriveNotification,
} from './notifications.ts';
export { RunSummary, listWorkspaceRuns, startRun } from './runs.ts';
export {
  TaskStatus,
  TaskTitle,
  TaskDescription,
  RunStatus,
  GovernedOutcome,
  RunError,
  ApprovalStatus,
} from '../run-states.ts';
export {
  Task,
  RunStep,
  Run,
  createTask,
  listTasks,
  getTask,
  putTask,
  deleteTask,
  putTaskStatus,
  runTask,
  listRuns,
  getRun,
} from './tasks.ts';
export { CapabilityState, EvalRecord, Capability, listCapabilities, getCapability } from './capabilities.ts';
export { StreamedEvent, followEvents } from './event-stream.ts';
export {
  AuditEntry,
  AuditExportHeader,
  listAudit,
  exportAudit,
  WorkspaceDemand,
  WorkspaceApproval,
  listWorkspaceApprovals,
  getWorkspaceApproval,
  checkResolver,
  ResolverObstacle,
  resolveWorkspaceApproval,
  Violation,
  listViolations,
} from './audit.ts';
export { CallReport, listReports, getReport } from './reports.ts';
export { runCodes, type RunErrorCode } from './run-codes.ts';
export { getGovernanceStatus, GovernanceReceipt, listGovernanceReceipts, getGovernanceReceipt } from './governance.ts';
export { HealthChecks, HealthProblem, Reachability, getHealth } from './health.ts';
export {
  inviteCreated,
  subscriptionDisabled,
  violationRecorded,
  taskChanged,
  taskCreated,
  taskDeleted,
  taskMoved,
  runEnqueued,
  runEnded,
  approvalRequested,
  approvalResolved,
  membersChanged,
} from './events.ts';
export { forwarding, type Forwarding } from './forwarding.ts';
export { gatewayRoutes } from './routes.ts';
