import type { controlPlaneRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { activatePolicyRoute } from './routes/activate-policy.ts';
import { answerDeviceLoginRoute } from './routes/answer-device-login.ts';
import { approveInstallRoute } from './routes/approve-install.ts';
import { approvePlanRoute } from './routes/approve-plan.ts';
import { beginDeviceLoginRoute } from './routes/begin-device-login.ts';
import { beginLoginRoute } from './routes/begin-login.ts';
import { beginPasskeyRoute } from './routes/begin-passkey.ts';
import { beginReauthRoute } from './routes/begin-reauth.ts';
import { bootstrapOrgRoute } from './routes/bootstrap-org.ts';
import { checkExportRoute } from './routes/check-export.ts';
import { commitPlanRoute } from './routes/commit-plan.ts';
import { compilePolicyDraftRoute } from './routes/compile-policy-draft.ts';
import { createBlastRadiusRoute } from './routes/create-blast-radius.ts';
import { createConsoleMemberRoute } from './routes/create-console-member.ts';
import { createConsoleRunRoute } from './routes/create-console-run.ts';
import { createConsoleTaskRoute } from './routes/create-console-task.ts';
import { createConsoleWorkspaceRoute } from './routes/create-console-workspace.ts';
import { createDeviceTokenRoute } from './routes/create-device-token.ts';
import { createEvidenceHandleRoute } from './routes/create-evidence-handle.ts';
import { createIncidentRoute } from './routes/create-incident.ts';
import { createPlanRoute } from './routes/create-plan.ts';
import { createPolicyTestRoute } from './routes/create-policy-test.ts';
import { createReplayRoute } from './routes/create-replay.ts';
import { createSessionTicketRoute } from './routes/create-session-ticket.ts';
import { createSupportReportRoute } from './routes/create-support-report.ts';
import { createWhatIfRoute } from './routes/create-what-if.ts';
import { deleteConsoleMemberRoute } from './routes/delete-console-member.ts';
import { deletePolicyShadowRoute } from './routes/delete-policy-shadow.ts';
import { deleteSessionRoute } from './routes/delete-session.ts';
import { disableConnectorRoute } from './routes/disable-connector.ts';
import { endCredentialRoute } from './routes/end-credential.ts';
import { exportAuditEntriesRoute } from './routes/export-audit-entries.ts';
import { finishLoginRoute } from './routes/finish-login.ts';
import { finishOidcLoginRoute } from './routes/finish-oidc-login.ts';
import { finishPasskeyRoute } from './routes/finish-passkey.ts';
import { finishReauthRoute } from './routes/finish-reauth.ts';
import { freezeTargetRoute } from './routes/freeze-target.ts';
import { getActivePolicyRoute } from './routes/get-active-policy.ts';
import { getBootstrapRoute } from './routes/get-bootstrap.ts';
import { getConnectorRoute } from './routes/get-connector.ts';
import { getConsoleFileRoute } from './routes/get-console-file.ts';
import { getConsoleRunRoute } from './routes/get-console-run.ts';
import { getConsoleWorkspaceRoute } from './routes/get-console-workspace.ts';
import { getDeviceLoginRoute } from './routes/get-device-login.ts';
import { getEvidenceHandleRoute } from './routes/get-evidence-handle.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIncidentRoute } from './routes/get-incident.ts';
import { getOpsRoute } from './routes/get-ops.ts';
import { getPlanRoute } from './routes/get-plan.ts';
import { getPolicyDraftRoute } from './routes/get-policy-draft.ts';
import { getPublicApprovalRoute } from './routes/get-public-approval.ts';
import { getPublicReceiptRoute } from './routes/get-public-receipt.ts';
import { getPublicReplayRoute } from './routes/get-public-replay.ts';
import { getReplayRoute } from './routes/get-replay.ts';
import { getSessionRoute } from './routes/get-session.ts';
import { getSigningKeyRoute } from './routes/get-signing-key.ts';
import { getSnapshotRoute } from './routes/get-snapshot.ts';
import { getWhatIfRoute } from './routes/get-what-if.ts';
import { installConnectorRoute } from './routes/install-connector.ts';
import { introspectSessionRoute } from './routes/introspect-session.ts';
import { listAuditEntriesRoute } from './routes/list-audit-entries.ts';
import { listConnectorsRoute } from './routes/list-connectors.ts';
import { listConsoleActionsRoute } from './routes/list-console-actions.ts';
import { listConsoleRunsRoute } from './routes/list-console-runs.ts';
import { listConsoleTasksRoute } from './routes/list-console-tasks.ts';
import { listConsoleToolsRoute } from './routes/list-console-tools.ts';
import { listConsoleWorkspacesRoute } from './routes/list-console-workspaces.ts';
import { listEvidenceHandlesRoute } from './routes/list-evidence-handles.ts';
import { listInboxApprovalsRoute } from './routes/list-inbox-approvals.ts';
import { listIncidentsRoute } from './routes/list-incidents.ts';
import { listInstallsRoute } from './routes/list-installs.ts';
import { listLiveSessionsRoute } from './routes/list-live-sessions.ts';
import { listOrgWorkspacesRoute } from './routes/list-org-workspaces.ts';
import { listOrgsRoute } from './routes/list-orgs.ts';
import { listOidcConnectionsRoute } from './routes/list-oidc-connections.ts';
import { listOpsTargetsRoute } from './routes/list-ops-targets.ts';
import { listPlansRoute } from './routes/list-plans.ts';
import { listRunReceiptsRoute } from './routes/list-run-receipts.ts';
import { listToolDriftRoute } from './routes/list-tool-drift.ts';
import { openConsoleSocketRoute } from './routes/open-console-socket.ts';
import { openTelemetrySocketRoute } from './routes/open-telemetry-socket.ts';
import { putConsoleMemberRoute } from './routes/put-console-member.ts';
import { putConsoleWorkspaceRoute } from './routes/put-console-workspace.ts';
import { putPolicyDraftRoute } from './routes/put-policy-draft.ts';
import { putPolicyShadowRoute } from './routes/put-policy-shadow.ts';
import { quarantineTargetRoute } from './routes/quarantine-target.ts';
import { refreshSessionRoute } from './routes/refresh-session.ts';
import { resolveApprovalRoute } from './routes/resolve-approval.ts';
import { resumeTargetRoute } from './routes/resume-target.ts';
import { resyncTargetRoute } from './routes/resync-target.ts';
import { revokeEvidenceHandleRoute } from './routes/revoke-evidence-handle.ts';
import { showConsoleRoute, showConsolePageRoute, showConsoleObjectRoute } from './routes/show-console.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { throttleTargetRoute } from './routes/throttle-target.ts';
import { transitionIncidentRoute } from './routes/transition-incident.ts';

/** The endpoint of each route of the control plane. */
export const operations: Operations<typeof controlPlaneRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  getHealth: getHealthRoute,
  beginLogin: beginLoginRoute,
  finishLogin: finishLoginRoute,
  refreshSession: refreshSessionRoute,
  listOidcConnections: listOidcConnectionsRoute,
  finishOidcLogin: finishOidcLoginRoute,
  beginPasskey: beginPasskeyRoute,
  finishPasskey: finishPasskeyRoute,
  beginReauth: beginReauthRoute,
  finishReauth: finishReauthRoute,
  beginDeviceLogin: beginDeviceLoginRoute,
  createDeviceToken: createDeviceTokenRoute,
  getDeviceLogin: getDeviceLoginRoute,
  answerDeviceLogin: answerDeviceLoginRoute,
  getSession: getSessionRoute,
  deleteSession: deleteSessionRoute,
  listAuditEntries: listAuditEntriesRoute,
  exportAuditEntries: exportAuditEntriesRoute,
  endCredential: endCredentialRoute,
  introspectSession: introspectSessionRoute,
  listInboxApprovals: listInboxApprovalsRoute,
  resolveApproval: resolveApprovalRoute,
  showConsole: showConsoleRoute,
  showConsolePage: showConsolePageRoute,
  showConsoleObject: showConsoleObjectRoute,
  getConsoleFile: getConsoleFileRoute,
  bootstrapOrg: bootstrapOrgRoute,
  listOrgs: listOrgsRoute,
  listOrgWorkspaces: listOrgWorkspacesRoute,
  getBootstrap: getBootstrapRoute,
  listConsoleWorkspaces: listConsoleWorkspacesRoute,
  createConsoleWorkspace: createConsoleWorkspaceRoute,
  getConsoleWorkspace: getConsoleWorkspaceRoute,
  putConsoleWorkspace: putConsoleWorkspaceRoute,
  createConsoleMember: createConsoleMemberRoute,
  putConsoleMember: putConsoleMemberRoute,
  deleteConsoleMember: deleteConsoleMemberRoute,
  createConsoleRun: createConsoleRunRoute,
  listConsoleRuns: listConsoleRunsRoute,
  getConsoleRun: getConsoleRunRoute,
  listRunReceipts: listRunReceiptsRoute,
  listConsoleActions: listConsoleActionsRoute,
  createConsoleTask: createConsoleTaskRoute,
  listConsoleTasks: listConsoleTasksRoute,
  listConsoleTools: listConsoleToolsRoute,
  listToolDrift: listToolDriftRoute,
  listConnectors: listConnectorsRoute,
  getConnector: getConnectorRoute,
  installConnector: installConnectorRoute,
  disableConnector: disableConnectorRoute,
  listInstalls: listInstallsRoute,
  approveInstall: approveInstallRoute,
  listLiveSessions: listLiveSessionsRoute,
  getPolicyDraft: getPolicyDraftRoute,
  putPolicyDraft: putPolicyDraftRoute,
  createPolicyTest: createPolicyTestRoute,
  compilePolicyDraft: compilePolicyDraftRoute,
  createWhatIf: createWhatIfRoute,
  getWhatIf: getWhatIfRoute,
  getActivePolicy: getActivePolicyRoute,
  activatePolicy: activatePolicyRoute,
  putPolicyShadow: putPolicyShadowRoute,
  deletePolicyShadow: deletePolicyShadowRoute,
  getOps: getOpsRoute,
  listOpsTargets: listOpsTargetsRoute,
  freezeTarget: freezeTargetRoute,
  throttleTarget: throttleTargetRoute,
  quarantineTarget: quarantineTargetRoute,
  resumeTarget: resumeTargetRoute,
  resyncTarget: resyncTargetRoute,
  listIncidents: listIncidentsRoute,
  createIncident: createIncidentRoute,
  getIncident: getIncidentRoute,
  transitionIncident: transitionIncidentRoute,
  createSupportReport: createSupportReportRoute,
  createBlastRadius: createBlastRadiusRoute,
  createPlan: createPlanRoute,
  listPlans: listPlansRoute,
  getPlan: getPlanRoute,
  approvePlan: approvePlanRoute,
  commitPlan: commitPlanRoute,
  createSessionTicket: createSessionTicketRoute,
  openConsoleSocket: openConsoleSocketRoute,
  openTelemetrySocket: openTelemetrySocketRoute,
  getSnapshot: getSnapshotRoute,
  createEvidenceHandle: createEvidenceHandleRoute,
  getEvidenceHandle: getEvidenceHandleRoute,
  listEvidenceHandles: listEvidenceHandlesRoute,
  revokeEvidenceHandle: revokeEvidenceHandleRoute,
  getPublicReceipt: getPublicReceiptRoute,
  getPublicApproval: getPublicApprovalRoute,
  getSigningKey: getSigningKeyRoute,
  checkExport: checkExportRoute,
  createReplay: createReplayRoute,
  getReplay: getReplayRoute,
  getPublicReplay: getPublicReplayRoute,
};
