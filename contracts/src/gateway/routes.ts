import { getOpenApi, showDocs, showFrontPage } from '../front-page.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { proveAddress, sendSignInCode } from './directory.ts';
import { followEvents } from './event-stream.ts';
import { exportAudit, listAudit, listViolations, listWorkspaceApprovals, resolveWorkspaceApproval } from './audit.ts';
import { getCapability, listCapabilities } from './capabilities.ts';
import { getGovernanceReceipt, getGovernanceStatus, listGovernanceReceipts } from './governance.ts';
import { getHealth } from './health.ts';
import {
  endSession,
  listSessions,
  requestEmailCode,
  revokeSession,
  signInByMessenger,
  verifyEmailCode,
} from './identity.ts';
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
import {
  createSubscription,
  endSubscription,
  listNotifications,
  listSubscriptions,
  redriveNotification,
  rotateWebhookSecret,
} from './notifications.ts';
import { getReport, listReports } from './reports.ts';
import {
  createTask,
  deleteTask,
  getRun,
  getTask,
  listRuns,
  listTasks,
  putTask,
  putTaskStatus,
  runTask,
} from './tasks.ts';
import { getWorkspace, getWorkspaceSettings, listModes, putWorkspaceMode, putWorkspaceSettings } from './workspaces.ts';

/** Every route of the gateway, by the name under which the typed client offers it. */
export const gatewayRoutes = {
  showFrontPage,
  getOpenApi,
  showDocs,
  getHealth,
  listModes,
  requestEmailCode,
  verifyEmailCode,
  signInByMessenger,
  endSession,
  listSessions,
  revokeSession,
  createApiKey,
  listApiKeys,
  revokeApiKey,
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
  createSubscription,
  listSubscriptions,
  endSubscription,
  rotateWebhookSecret,
  listNotifications,
  redriveNotification,
  listTasks,
  createTask,
  getTask,
  putTask,
  deleteTask,
  putTaskStatus,
  runTask,
  listRuns,
  getRun,
  listAudit,
  exportAudit,
  followEvents,
  listWorkspaceApprovals,
  resolveWorkspaceApproval,
  listViolations,
  listReports,
  getReport,
  listCapabilities,
  getCapability,
  getGovernanceStatus,
  listGovernanceReceipts,
  getGovernanceReceipt,
  sendSignInCode,
  proveAddress,
};
