import { getOpenApi, showFrontPage } from '../front-page.ts';
import { listAudit, listViolations, listWorkspaceApprovals, resolveWorkspaceApproval } from './audit.ts';
import { getGovernanceReceipt, getGovernanceStatus, listGovernanceReceipts } from './governance.ts';
import { getHealth } from './health.ts';
import { endSession, requestEmailCode, verifyEmailCode } from './identity.ts';
import {
  acceptInvite,
  createInvite,
  getMe,
  leaveWorkspace,
  listInvites,
  putMemberRole,
  removeMember,
  revokeInvite,
  showInvite,
} from './members.ts';
import { createTask, listRuns, listTasks, putTaskStatus, runTask } from './tasks.ts';
import { getWorkspace, getWorkspaceSettings, listModes, putWorkspaceMode, putWorkspaceSettings } from './workspaces.ts';

/** Every route of the gateway, by the name under which the typed client offers it. */
export const gatewayRoutes = {
  showFrontPage,
  getOpenApi,
  getHealth,
  listModes,
  requestEmailCode,
  verifyEmailCode,
  endSession,
  showInvite,
  acceptInvite,
  getMe,
  getWorkspace,
  getWorkspaceSettings,
  putWorkspaceSettings,
  putWorkspaceMode,
  createInvite,
  listInvites,
  revokeInvite,
  putMemberRole,
  removeMember,
  leaveWorkspace,
  listTasks,
  createTask,
  putTaskStatus,
  runTask,
  listRuns,
  listAudit,
  listWorkspaceApprovals,
  resolveWorkspaceApproval,
  listViolations,
  getGovernanceStatus,
  listGovernanceReceipts,
  getGovernanceReceipt,
};
