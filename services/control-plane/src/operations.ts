import type { controlPlaneRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { activatePolicyRoute } from './routes/policy/activate-policy.ts';
import { answerDeviceLoginRoute } from './routes/sessions/answer-device-login.ts';
import { approveInstallRoute } from './routes/connectors/approve-install.ts';
import { approvePlanRoute } from './routes/plans/approve-plan.ts';
import { beginDeviceLoginRoute } from './routes/sessions/begin-device-login.ts';
import { beginLoginRoute } from './routes/sessions/begin-login.ts';
import { beginPasskeyRoute } from './routes/sessions/begin-passkey.ts';
import { beginReauthRoute } from './routes/sessions/begin-reauth.ts';
import { bootstrapOrgRoute } from './routes/orgs/bootstrap-org.ts';
import { checkExportRoute } from './routes/evidence-handles/check-export.ts';
import { commitPlanRoute } from './routes/plans/commit-plan.ts';
import { compilePolicyDraftRoute } from './routes/policy/compile-policy-draft.ts';
import { createBlastRadiusRoute } from './routes/plans/create-blast-radius.ts';
import { createConsoleMemberRoute } from './routes/workspaces/create-console-member.ts';
import { createConsoleRunRoute } from './routes/runs/create-console-run.ts';
import { createConsoleTaskRoute } from './routes/runs/create-console-task.ts';
import { createConsoleWorkspaceRoute } from './routes/workspaces/create-console-workspace.ts';
import { createDeviceTokenRoute } from './routes/sessions/create-device-token.ts';
import { createEvidenceHandleRoute } from './routes/evidence-handles/create-evidence-handle.ts';
import { createIncidentRoute } from './routes/incidents/create-incident.ts';
import { createPlanRoute } from './routes/plans/create-plan.ts';
import { createPolicyTestRoute } from './routes/policy/create-policy-test.ts';
import { createReplayRoute } from './routes/replays/create-replay.ts';
import { createSessionTicketRoute } from './routes/realtime/create-session-ticket.ts';
import { createShimRoute } from './routes/connectors/create-shim.ts';
import { createSupportReportRoute } from './routes/incidents/create-support-report.ts';
import { createWhatIfRoute } from './routes/policy/create-what-if.ts';
import { deleteConsoleMemberRoute } from './routes/workspaces/delete-console-member.ts';
import { deletePolicyShadowRoute } from './routes/policy/delete-policy-shadow.ts';
import { deleteSessionRoute } from './routes/sessions/delete-session.ts';
import { disableConnectorRoute } from './routes/connectors/disable-connector.ts';
import { endCredentialRoute } from './routes/sessions/end-credential.ts';
import { exportAuditEntriesRoute } from './routes/audit/export-audit-entries.ts';
import { finishLoginRoute } from './routes/sessions/finish-login.ts';
import { finishOidcLoginRoute } from './routes/sessions/finish-oidc-login.ts';
import { finishPasskeyRoute } from './routes/sessions/finish-passkey.ts';
import { finishReauthRoute } from './routes/sessions/finish-reauth.ts';
import { freezeTargetRoute } from './routes/ops/freeze-target.ts';
import { getActivePolicyRoute } from './routes/policy/get-active-policy.ts';
import { getBootstrapRoute } from './routes/orgs/get-bootstrap.ts';
import { getConnectorRoute } from './routes/connectors/get-connector.ts';
import { getConsoleFileRoute } from './routes/console/get-console-file.ts';
import { getConsoleRunRoute } from './routes/runs/get-console-run.ts';
import { getConsoleWorkspaceRoute } from './routes/workspaces/get-console-workspace.ts';
import { getDeviceLoginRoute } from './routes/sessions/get-device-login.ts';
import { getEvidenceHandleRoute } from './routes/evidence-handles/get-evidence-handle.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIncidentRoute } from './routes/incidents/get-incident.ts';
import { getOpsRoute } from './routes/ops/get-ops.ts';
import { getOrgUseRoute } from './routes/orgs/get-org-use.ts';
import { getPlanRoute } from './routes/plans/get-plan.ts';
import { getPolicyDraftRoute } from './routes/policy/get-policy-draft.ts';
import { getPublicApprovalRoute } from './routes/public-proof/get-public-approval.ts';
import { getPublicReceiptRoute } from './routes/public-proof/get-public-receipt.ts';
import { getPublicReplayRoute } from './routes/replays/get-public-replay.ts';
import { getReplayRoute } from './routes/replays/get-replay.ts';
import { getSessionRoute } from './routes/sessions/get-session.ts';
import { getSigningKeyRoute } from './routes/public-proof/get-signing-key.ts';
import { getSnapshotRoute } from './routes/realtime/get-snapshot.ts';
import { getSsoReadinessRoute } from './routes/orgs/get-sso-readiness.ts';
import { getPolicyVersionRoute } from './routes/policy/get-policy-version.ts';
import { getWhatIfRoute } from './routes/policy/get-what-if.ts';
import { installConnectorRoute } from './routes/connectors/install-connector.ts';
import { introspectSessionRoute } from './routes/sessions/introspect-session.ts';
import { listAuditEntriesRoute } from './routes/audit/list-audit-entries.ts';
import { listConnectorsRoute } from './routes/connectors/list-connectors.ts';
import { listConsoleActionsRoute } from './routes/tools/list-console-actions.ts';
import { listConsoleRunsRoute } from './routes/runs/list-console-runs.ts';
import { listConsoleTasksRoute } from './routes/runs/list-console-tasks.ts';
import { listConsoleToolsRoute } from './routes/tools/list-console-tools.ts';
import { listConsoleWorkspacesRoute } from './routes/workspaces/list-console-workspaces.ts';
import { listEvidenceHandlesRoute } from './routes/evidence-handles/list-evidence-handles.ts';
import { listInboxApprovalsRoute } from './routes/approvals/list-inbox-approvals.ts';
import { listIncidentsRoute } from './routes/incidents/list-incidents.ts';
import { listInstallsRoute } from './routes/connectors/list-installs.ts';
import { listLiveSessionsRoute } from './routes/sessions/list-live-sessions.ts';
import { listOrgWorkspacesRoute } from './routes/orgs/list-org-workspaces.ts';
import { listOrgsRoute } from './routes/orgs/list-orgs.ts';
import { listOidcConnectionsRoute } from './routes/sessions/list-oidc-connections.ts';
import { listOpsTargetsRoute } from './routes/ops/list-ops-targets.ts';
import { listPlansRoute } from './routes/plans/list-plans.ts';
import { listPolicyVersionsRoute } from './routes/policy/list-policy-versions.ts';
import { listRunReceiptsRoute } from './routes/runs/list-run-receipts.ts';
import { listShimsRoute } from './routes/connectors/list-shims.ts';
import { listToolDriftRoute } from './routes/tools/list-tool-drift.ts';
import { openConsoleSocketRoute } from './routes/realtime/open-console-socket.ts';
import { openTelemetrySocketRoute } from './routes/realtime/open-telemetry-socket.ts';
import { putConsoleMemberRoute } from './routes/workspaces/put-console-member.ts';
import { putConsoleWorkspaceRoute } from './routes/workspaces/put-console-workspace.ts';
import { putPolicyDraftRoute } from './routes/policy/put-policy-draft.ts';
import { putPolicyShadowRoute } from './routes/policy/put-policy-shadow.ts';
import { quarantineTargetRoute } from './routes/ops/quarantine-target.ts';
import { readScopedAuditChainRoute } from './routes/audit/read-scoped-audit-chain.ts';
import { refreshSessionRoute } from './routes/sessions/refresh-session.ts';
import { resolveApprovalRoute } from './routes/approvals/resolve-approval.ts';
import { resumeTargetRoute } from './routes/ops/resume-target.ts';
import { resyncTargetRoute } from './routes/ops/resync-target.ts';
import { revokeEvidenceHandleRoute } from './routes/evidence-handles/revoke-evidence-handle.ts';
import { revokeShimRoute } from './routes/connectors/revoke-shim.ts';
import { showConsoleRoute, showConsolePageRoute, showConsoleObjectRoute } from './routes/console/show-console.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { throttleTargetRoute } from './routes/ops/throttle-target.ts';
import { transitionIncidentRoute } from './routes/incidents/transition-incident.ts';

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
  getOrgUse: getOrgUseRoute,
  getSsoReadiness: getSsoReadinessRoute,
  readScopedAuditChain: readScopedAuditChainRoute,
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
  createShim: createShimRoute,
  listShims: listShimsRoute,
  revokeShim: revokeShimRoute,
  listLiveSessions: listLiveSessionsRoute,
  getPolicyDraft: getPolicyDraftRoute,
  getPolicyVersion: getPolicyVersionRoute,
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
  listPolicyVersions: listPolicyVersionsRoute,
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
