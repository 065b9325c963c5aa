export { showFrontPage, getOpenApi } from '../front-page.ts';
export { EmailAddress, User, requestEmailCode, SignedIn, verifyEmailCode, endSession } from './identity.ts';
export {
  Role,
  WorkspaceMode,
  PathId,
  WorkspaceQuery,
  WorkspaceBody,
  Workspace,
  getWorkspace,
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
  TaskStatus,
  Task,
  RunStatus,
  GovernedOutcome,
  RunError,
  RunStep,
  Run,
  createTask,
  listTasks,
  putTaskStatus,
  runTask,
  listRuns,
} from './tasks.ts';
export {
  AuditVerdict,
  AuditEntry,
  listAudit,
  ApprovalStatus,
  WorkspaceDemand,
  WorkspaceApproval,
  listWorkspaceApprovals,
  resolveWorkspaceApproval,
  Violation,
  listViolations,
} from './audit.ts';
export { runCodes, type RunErrorCode } from './run-codes.ts';
export { getGovernanceStatus, GovernanceReceipt, listGovernanceReceipts, getGovernanceReceipt } from './governance.ts';
export { Reachability, getHealth } from './health.ts';
export { taskCreated, taskMoved, runEnqueued, runEnded, approvalRequested, approvalResolved } from './events.ts';
export { gatewayRoutes } from './routes.ts';
