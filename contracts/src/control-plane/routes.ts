import { getOpenApi, showFrontPage } from '../front-page.ts';
import { listInboxApprovals, resolveApproval } from './approvals.ts';
import { exportAuditEntries, listAuditEntries } from './audit.ts';
import { getConsoleFile, showConsole, showConsoleObject, showConsolePage } from './console.ts';
import { getLiveness, getReadiness } from '../health-probes.ts';
import { getHealth } from './health.ts';
import { answerDeviceLogin, beginDeviceLogin, createDeviceToken, getDeviceLogin } from './device.ts';
import { introspectSession, listLiveSessions } from './introspection.ts';
import { beginLogin, finishLogin, refreshSession } from './login.ts';
import { bootstrapOrg, getBootstrap } from './bootstrap.ts';
import {
  createConsoleMember,
  createConsoleWorkspace,
  deleteConsoleMember,
  getConsoleWorkspace,
  listConsoleWorkspaces,
  putConsoleMember,
  putConsoleWorkspace,
} from './workspaces.ts';
import { listConsoleActions } from './actions.ts';
import { createConsoleTask, listConsoleTasks } from './tasks.ts';
import { listConsoleTools, listToolDrift } from './tools.ts';
import { createConsoleRun, getConsoleRun, listConsoleRuns, listRunReceipts } from './runs.ts';
import { finishOidcLogin, listOidcConnections } from './oidc.ts';
import { beginPasskey, finishPasskey } from './passkeys.ts';
import { beginReauth, finishReauth } from './reauth.ts';
import { deleteSession, endCredential, getSession } from './session.ts';
import {
  getPolicyDraft,
  putPolicyDraft,
  createPolicyTest,
  compilePolicyDraft,
  createWhatIf,
  getWhatIf,
  getActivePolicy,
  activatePolicy,
} from './policy.ts';
import { createSessionTicket, getSnapshot, openConsoleSocket, openTelemetrySocket } from './realtime.ts';
import { deletePolicyShadow, putPolicyShadow } from './policy-shadows.ts';
import {
  createEvidenceHandle,
  getEvidenceHandle,
  listEvidenceHandles,
  revokeEvidenceHandle,
} from './evidence-handles.ts';
import { getPublicApproval, getPublicReceipt, getSigningKey } from './public-proof.ts';
import { createReplay, getPublicReplay, getReplay } from './replays.ts';
import { checkExport } from './verification.ts';
import {
  freezeTarget,
  getOps,
  listOpsTargets,
  quarantineTarget,
  resumeTarget,
  resyncTarget,
  throttleTarget,
} from './ops.ts';
import { createBlastRadius } from './blast-radius.ts';
import { approvePlan, commitPlan, createPlan, getPlan } from './plans.ts';
import { createIncident, getIncident, listIncidents, transitionIncident } from './incidents.ts';
import { createSupportReport } from './support.ts';

/** Every route of the control plane, by the name under which the typed client offers it. */
export const controlPlaneRoutes = {
  showFrontPage,
  getOpenApi,
  getHealth,
  getLiveness,
  getReadiness,
  beginLogin,
  finishLogin,
  refreshSession,
  listOidcConnections,
  finishOidcLogin,
  beginPasskey,
  finishPasskey,
  beginReauth,
  finishReauth,
  beginDeviceLogin,
  createDeviceToken,
  getDeviceLogin,
  answerDeviceLogin,
  getSession,
  deleteSession,
  listAuditEntries,
  exportAuditEntries,
  endCredential,
  introspectSession,
  listInboxApprovals,
  resolveApproval,
  showConsole,
  showConsolePage,
  showConsoleObject,
  getConsoleFile,
  bootstrapOrg,
  getBootstrap,
  listConsoleWorkspaces,
  createConsoleWorkspace,
  getConsoleWorkspace,
  putConsoleWorkspace,
  createConsoleMember,
  putConsoleMember,
  deleteConsoleMember,
  createConsoleRun,
  listConsoleRuns,
  getConsoleRun,
  listRunReceipts,
  listConsoleActions,
  createConsoleTask,
  listConsoleTasks,
  listConsoleTools,
  listToolDrift,
  listLiveSessions,
  getPolicyDraft,
  putPolicyDraft,
  createPolicyTest,
  compilePolicyDraft,
  createWhatIf,
  getWhatIf,
  getActivePolicy,
  activatePolicy,
  putPolicyShadow,
  deletePolicyShadow,
  getOps,
  listOpsTargets,
  freezeTarget,
  throttleTarget,
  quarantineTarget,
  resumeTarget,
  resyncTarget,
  listIncidents,
  createIncident,
  getIncident,
  transitionIncident,
  createSupportReport,
  createBlastRadius,
  createPlan,
  getPlan,
  approvePlan,
  commitPlan,
  createSessionTicket,
  openConsoleSocket,
  openTelemetrySocket,
  getSnapshot,
  createEvidenceHandle,
  getEvidenceHandle,
  listEvidenceHandles,
  revokeEvidenceHandle,
  getPublicReceipt,
  getPublicApproval,
  getSigningKey,
  checkExport,
  createReplay,
  getReplay,
  getPublicReplay,
};
