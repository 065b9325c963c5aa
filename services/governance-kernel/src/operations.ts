import type { kernelRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { acceptPasskeyRoute } from './routes/accept-passkey.ts';
import { approveByKernelRoute } from './routes/approve-by-kernel.ts';
import { approveMcpServerRoute, approveNamedMcpServerRoute } from './routes/approve-mcp-server.ts';
import { assertApprovalRoute } from './routes/assert-approval.ts';
import { assertOnPageRoute } from './routes/assert-on-page.ts';
import { assertSignInRoute } from './routes/assert-sign-in.ts';
import { authorizeMcpCallRoute } from './routes/authorize-mcp-call.ts';
import { callMcpRoute } from './routes/call-mcp.ts';
import { addTrustKeysRoute, revokeTrustKeysRoute } from './routes/change-trust-keys.ts';
import { challengeApprovalRoute } from './routes/challenge-approval.ts';
import { challengeOnPageRoute } from './routes/challenge-on-page.ts';
import { challengeSignInRoute } from './routes/challenge-sign-in.ts';
import { challengeVoucherRoute } from './routes/challenge-voucher.ts';
import { challengeVoucherOnPageRoute } from './routes/challenge-voucher-on-page.ts';
import { checkRelationRoute } from './routes/check-relation.ts';
import { confirmActivationRoute } from './routes/confirm-activation.ts';
import { createAccessKeyRoute } from './routes/create-access-key.ts';
import { createActivationSignatureRoute } from './routes/create-activation-signature.ts';
import { createApprovalRoute } from './routes/create-approval.ts';
import { createChatCompletionRoute } from './routes/create-chat-completion.ts';
import { createCheckpointRoute } from './routes/create-checkpoint.ts';
import { createEnvelopeRoute } from './routes/create-envelope.ts';
import { disableMcpServerRoute } from './routes/disable-mcp-server.ts';
import { getEnvelopeRoute } from './routes/get-envelope.ts';
import { getEnvelopePayloadRoute } from './routes/get-envelope-payload.ts';
import { listEnvelopesRoute } from './routes/list-envelopes.ts';
import { listEvidenceKeysRoute } from './routes/list-evidence-keys.ts';
import { verifyEnvelopeRoute } from './routes/verify-envelope.ts';
import { createKeyChallengeRoute } from './routes/create-key-challenge.ts';
import { createSandboxGrantRoute } from './routes/create-sandbox-grant.ts';
import { deleteDecisionStatsRoute } from './routes/delete-decision-stats.ts';
import { deleteShadowLaneRoute } from './routes/delete-shadow-lane.ts';
import { describeMcpRoute } from './routes/describe-mcp.ts';
import { endApprovalsRoute } from './routes/end-approvals.ts';
import { enrolIdentityKeyRoute } from './routes/enrol-identity-key.ts';
import { evaluateRoute } from './routes/evaluate.ts';
import { evaluateAccessRoute } from './routes/evaluate-access.ts';
import { evaluateAccessesRoute } from './routes/evaluate-accesses.ts';
import { executeMcpRoute } from './routes/execute-mcp.ts';
import { exportEvidenceRoute } from './routes/export-evidence.ts';
import { exportReceiptsRoute } from './routes/export-receipts.ts';
import { exportTelemetryRoute } from './routes/export-telemetry.ts';
import { getAgentUiInfoRoute, getAgUiInfoRoute } from './routes/get-agent-ui-info.ts';
import { getAuthzHealthRoute } from './routes/get-authz-health.ts';
import { getAuthzenConfigurationRoute } from './routes/get-authzen-configuration.ts';
import { getBoundaryStatusRoute } from './routes/get-boundary-status.ts';
import { getBudgetRoute } from './routes/get-budget.ts';
import { getCoexistenceCapabilitiesRoute } from './routes/get-coexistence-capabilities.ts';
import { getConformanceReportRoute } from './routes/get-conformance-report.ts';
import { getConsistencyProofRoute } from './routes/get-consistency-proof.ts';
import { getConsoleBootstrapRoute } from './routes/get-console-bootstrap.ts';
import { getConsoleSurfaceRoute } from './routes/get-console-surface.ts';
import { getDecisionStatsRoute } from './routes/get-decision-stats.ts';
import { getFenceRoute } from './routes/get-fence.ts';
import { getGraphReceiptRoute } from './routes/get-graph-receipt.ts';
import { getHostChainRoute } from './routes/get-host-chain.ts';
import { getInclusionProofRoute } from './routes/get-inclusion-proof.ts';
import { getLatestCheckpointRoute } from './routes/get-latest-checkpoint.ts';
import { getMcpServerRoute } from './routes/get-mcp-server.ts';
import { getOauthProtectedResourceRoute } from './routes/get-oauth-protected-resource.ts';
import { getOtelConfigRoute } from './routes/get-otel-config.ts';
import { getPolicyBundleRoute } from './routes/get-policy-bundle.ts';
import { getPolicyCeilingsRoute } from './routes/get-policy-ceilings.ts';
import { getPolicyInForceRoute } from './routes/get-policy-in-force.ts';
import { getReceiptRoute } from './routes/get-receipt.ts';
import { getRecordRoute } from './routes/get-record.ts';
import { getRelationSnapshotRoute } from './routes/get-relation-snapshot.ts';
import { getSandboxGrantRoute } from './routes/get-sandbox-grant.ts';
import { getTrustListRoute } from './routes/get-trust-list.ts';
import { getSeenAgentRoute } from './routes/get-seen-agent.ts';
import { healthzRoute, versionRoute } from './routes/health.ts';
import { importHostChainRoute } from './routes/import-host-chain.ts';
import { inspectSandboxGrantRoute } from './routes/inspect-sandbox-grant.ts';
import { listAccessKeysRoute } from './routes/list-access-keys.ts';
import { listActionsRoute } from './routes/list-actions.ts';
import { listAgentsRoute } from './routes/list-agents.ts';
import { listApprovalsRoute } from './routes/list-approvals.ts';
import { listAuthProfilesRoute } from './routes/list-auth-profiles.ts';
import { listBoundaryCapabilitiesRoute } from './routes/list-boundary-capabilities.ts';
import { listBoundaryTargetsRoute } from './routes/list-boundary-targets.ts';
import { listBudgetsRoute } from './routes/list-budgets.ts';
import { listCheckpointsRoute } from './routes/list-checkpoints.ts';
import { listConformanceReportsRoute } from './routes/list-conformance-reports.ts';
import { listConformanceVectorsRoute } from './routes/list-conformance-vectors.ts';
import { listConsoleSurfacesRoute } from './routes/list-console-surfaces.ts';
import { listDriftedToolsRoute } from './routes/list-drifted-tools.ts';
import { listFencesRoute } from './routes/list-fences.ts';
import { listGalleryServersRoute } from './routes/list-gallery-servers.ts';
import { listGraphReceiptsRoute } from './routes/list-graph-receipts.ts';
import { listGraphSessionsRoute } from './routes/list-graph-sessions.ts';
import { listHostDriftRoute } from './routes/list-host-drift.ts';
import { listLedgerEntriesRoute } from './routes/list-ledger-entries.ts';
import { listMcpCapabilitiesRoute } from './routes/list-mcp-capabilities.ts';
import { listMcpServersRoute } from './routes/list-mcp-servers.ts';
import { listNegativeVectorsRoute } from './routes/list-negative-vectors.ts';
import { listOperatorsRoute } from './routes/list-operators.ts';
import { listPasskeysRoute } from './routes/list-passkeys.ts';
import { listReceiptsRoute } from './routes/list-receipts.ts';
import { listRecordsRoute } from './routes/list-records.ts';
import { listRegisteredToolsRoute } from './routes/list-registered-tools.ts';
import { listRelationSnapshotsRoute } from './routes/list-relation-snapshots.ts';
import { listSandboxGrantsRoute } from './routes/list-sandbox-grants.ts';
import { listSandboxProfilesRoute } from './routes/list-sandbox-profiles.ts';
import { listSeenAgentsRoute } from './routes/list-seen-agents.ts';
import { listSubjectRelationsRoute } from './routes/list-subject-relations.ts';
import { listTrustKeysRoute } from './routes/list-trust-keys.ts';
import { listModelsRoute, getModelRoute } from './routes/models.ts';
import { preflightSandboxRoute } from './routes/preflight-sandbox.ts';
import { putApprovalTermsRoute } from './routes/put-approval-terms.ts';
import { putAuthProfileRoute } from './routes/put-auth-profile.ts';
import { putBudgetRoute } from './routes/put-budget.ts';
import { putCeilingRoute } from './routes/put-ceiling.ts';
import { putFenceRoute } from './routes/put-fence.ts';
import { putIdentityRoute } from './routes/put-identity.ts';
import { putMembersRoute } from './routes/put-members.ts';
import { putPermissionModelRoute } from './routes/put-permission-model.ts';
import { putPolicyBundleRoute } from './routes/put-policy-bundle.ts';
import { putPolicyCeilingsRoute } from './routes/put-policy-ceilings.ts';
import { putShadowLaneRoute } from './routes/put-shadow-lane.ts';
import { putTenantRoute } from './routes/put-tenant.ts';
import { putToolBlocksRoute } from './routes/put-tool-blocks.ts';
import { recordBudgetUsageRoute } from './routes/record-budget-usage.ts';
import { registerMcpServerRoute } from './routes/register-mcp-server.ts';
import { registerOnPageRoute } from './routes/register-on-page.ts';
import { registerPasskeyRoute } from './routes/register-passkey.ts';
import { revokeAccessKeyRoute } from './routes/revoke-access-key.ts';
import { revokeIdentityRoute } from './routes/revoke-identity.ts';
import { revokeIdentityKeyRoute } from './routes/revoke-identity-key.ts';
import { requestMcpServerApprovalRoute } from './routes/request-mcp-server-approval.ts';
import { revokeMcpServerRoute } from './routes/revoke-mcp-server.ts';
import { revokeOwnPasskeyRoute } from './routes/revoke-own-passkey.ts';
import { revokePasskeyRoute } from './routes/revoke-passkey.ts';
import { runAgentUiRoute, runAgUiRoute } from './routes/run-agent-ui.ts';
import { runConformanceRoute } from './routes/run-conformance.ts';
import { runDemoRoute } from './routes/run-demo.ts';
import { scanMcpServerRoute } from './routes/scan-mcp-server.ts';
import { searchActionsRoute } from './routes/search-actions.ts';
import { searchResourcesRoute } from './routes/search-resources.ts';
import { searchSubjectsRoute } from './routes/search-subjects.ts';
import { showApprovalPageRoute } from './routes/show-approval-page.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { showPasskeyScriptRoute } from './routes/show-passkey-script.ts';
import { showWaitingPasskeysRoute } from './routes/show-waiting-passkeys.ts';
import { signInApproverRoute } from './routes/sign-in-approver.ts';
import { signOutApproverRoute } from './routes/sign-out-approver.ts';
import { tailReceiptsRoute } from './routes/tail-receipts.ts';
import { tamperDemoRoute } from './routes/tamper-demo.ts';
import { transitionApprovalRoute } from './routes/transition-approval.ts';
import { verifyCheckpointRoute } from './routes/verify-checkpoint.ts';
import { verifyDemoRoute } from './routes/verify-demo.ts';
import { verifyEvidenceRoute } from './routes/verify-evidence.ts';
import { verifyOnPageRoute } from './routes/verify-on-page.ts';
import { verifyPasskeyRoute } from './routes/verify-passkey.ts';
import { verifyRecordRoute } from './routes/verify-record.ts';
import { verifyReplayRoute } from './routes/verify-replay.ts';
import { verifySandboxGrantRoute } from './routes/verify-sandbox-grant.ts';
import { voteOnPageRoute } from './routes/vote-on-page.ts';
import { vouchForPasskeyRoute } from './routes/vouch-for-passkey.ts';
import { vouchOnPageRoute } from './routes/vouch-on-page.ts';
import { withdrawApprovalRoute } from './routes/withdraw-approval.ts';
import { writeRelationshipsRoute } from './routes/write-relationships.ts';

/** The endpoint of each route of the kernel. */
export const operations: Operations<typeof kernelRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  healthz: healthzRoute,
  version: versionRoute,
  runDemo: runDemoRoute,
  verifyDemo: verifyDemoRoute,
  tamperDemo: tamperDemoRoute,
  evaluate: evaluateRoute,
  listReceipts: listReceiptsRoute,
  getReceipt: getReceiptRoute,
  tailReceipts: tailReceiptsRoute,
  exportReceipts: exportReceiptsRoute,
  listGraphSessions: listGraphSessionsRoute,
  listGraphReceipts: listGraphReceiptsRoute,
  getGraphReceipt: getGraphReceiptRoute,
  exportEvidence: exportEvidenceRoute,
  verifyEvidence: verifyEvidenceRoute,
  verifyReplay: verifyReplayRoute,
  listEnvelopes: listEnvelopesRoute,
  createEnvelope: createEnvelopeRoute,
  getEnvelope: getEnvelopeRoute,
  getEnvelopePayload: getEnvelopePayloadRoute,
  verifyEnvelope: verifyEnvelopeRoute,
  listEvidenceKeys: listEvidenceKeysRoute,
  importHostChain: importHostChainRoute,
  getHostChain: getHostChainRoute,
  listHostDrift: listHostDriftRoute,
  listRecords: listRecordsRoute,
  getRecord: getRecordRoute,
  verifyRecord: verifyRecordRoute,
  getBoundaryStatus: getBoundaryStatusRoute,
  listBoundaryTargets: listBoundaryTargetsRoute,
  listBoundaryCapabilities: listBoundaryCapabilitiesRoute,
  getConsoleBootstrap: getConsoleBootstrapRoute,
  listConsoleSurfaces: listConsoleSurfacesRoute,
  getConsoleSurface: getConsoleSurfaceRoute,
  getOtelConfig: getOtelConfigRoute,
  exportTelemetry: exportTelemetryRoute,
  getCoexistenceCapabilities: getCoexistenceCapabilitiesRoute,
  listCheckpoints: listCheckpointsRoute,
  createCheckpoint: createCheckpointRoute,
  verifyCheckpoint: verifyCheckpointRoute,
  getLatestCheckpoint: getLatestCheckpointRoute,
  getInclusionProof: getInclusionProofRoute,
  getConsistencyProof: getConsistencyProofRoute,
  listTrustKeys: listTrustKeysRoute,
  getTrustList: getTrustListRoute,
  addTrustKeys: addTrustKeysRoute,
  revokeTrustKeys: revokeTrustKeysRoute,
  listApprovals: listApprovalsRoute,
  createApproval: createApprovalRoute,
  endApprovals: endApprovalsRoute,
  withdrawApproval: withdrawApprovalRoute,
  transitionApproval: transitionApprovalRoute,
  approveByKernel: approveByKernelRoute,
  challengeApproval: challengeApprovalRoute,
  assertApproval: assertApprovalRoute,
  putApprovalTerms: putApprovalTermsRoute,
  registerPasskey: registerPasskeyRoute,
  verifyPasskey: verifyPasskeyRoute,
  listPasskeys: listPasskeysRoute,
  revokePasskey: revokePasskeyRoute,
  challengeVoucher: challengeVoucherRoute,
  vouchForPasskey: vouchForPasskeyRoute,
  acceptPasskey: acceptPasskeyRoute,
  challengeSignIn: challengeSignInRoute,
  assertSignIn: assertSignInRoute,
  revokeOwnPasskey: revokeOwnPasskeyRoute,
  showApprovalPage: showApprovalPageRoute,
  signInApprover: signInApproverRoute,
  signOutApprover: signOutApproverRoute,
  voteOnPage: voteOnPageRoute,
  showPasskeyScript: showPasskeyScriptRoute,
  challengeOnPage: challengeOnPageRoute,
  assertOnPage: assertOnPageRoute,
  registerOnPage: registerOnPageRoute,
  verifyOnPage: verifyOnPageRoute,
  showWaitingPasskeys: showWaitingPasskeysRoute,
  challengeVoucherOnPage: challengeVoucherOnPageRoute,
  vouchOnPage: vouchOnPageRoute,
  listAccessKeys: listAccessKeysRoute,
  createAccessKey: createAccessKeyRoute,
  revokeAccessKey: revokeAccessKeyRoute,
  listAgents: listAgentsRoute,
  listOperators: listOperatorsRoute,
  putIdentity: putIdentityRoute,
  createKeyChallenge: createKeyChallengeRoute,
  enrolIdentityKey: enrolIdentityKeyRoute,
  revokeIdentityKey: revokeIdentityKeyRoute,
  revokeIdentity: revokeIdentityRoute,
  listBudgets: listBudgetsRoute,
  putBudget: putBudgetRoute,
  putCeiling: putCeilingRoute,
  getBudget: getBudgetRoute,
  recordBudgetUsage: recordBudgetUsageRoute,
  putPolicyBundle: putPolicyBundleRoute,
  putPolicyCeilings: putPolicyCeilingsRoute,
  getPolicyCeilings: getPolicyCeilingsRoute,
  getPolicyInForce: getPolicyInForceRoute,
  getPolicyBundle: getPolicyBundleRoute,
  listLedgerEntries: listLedgerEntriesRoute,
  putShadowLane: putShadowLaneRoute,
  deleteShadowLane: deleteShadowLaneRoute,
  createActivationSignature: createActivationSignatureRoute,
  confirmActivation: confirmActivationRoute,
  putMembers: putMembersRoute,
  putToolBlocks: putToolBlocksRoute,
  putFence: putFenceRoute,
  getFence: getFenceRoute,
  listFences: listFencesRoute,
  putTenant: putTenantRoute,
  writeRelationships: writeRelationshipsRoute,
  listSubjectRelations: listSubjectRelationsRoute,
  putPermissionModel: putPermissionModelRoute,
  checkRelation: checkRelationRoute,
  getAuthzHealth: getAuthzHealthRoute,
  listRelationSnapshots: listRelationSnapshotsRoute,
  getRelationSnapshot: getRelationSnapshotRoute,
  evaluateAccess: evaluateAccessRoute,
  evaluateAccesses: evaluateAccessesRoute,
  searchSubjects: searchSubjectsRoute,
  searchResources: searchResourcesRoute,
  searchActions: searchActionsRoute,
  getAuthzenConfiguration: getAuthzenConfigurationRoute,
  createChatCompletion: createChatCompletionRoute,
  listModels: listModelsRoute,
  getModel: getModelRoute,
  runAgentUi: runAgentUiRoute,
  runAgUi: runAgUiRoute,
  getAgentUiInfo: getAgentUiInfoRoute,
  getAgUiInfo: getAgUiInfoRoute,
  describeMcp: describeMcpRoute,
  callMcp: callMcpRoute,
  listMcpCapabilities: listMcpCapabilitiesRoute,
  executeMcp: executeMcpRoute,
  getOauthProtectedResource: getOauthProtectedResourceRoute,
  listGalleryServers: listGalleryServersRoute,
  listMcpServers: listMcpServersRoute,
  getMcpServer: getMcpServerRoute,
  registerMcpServer: registerMcpServerRoute,
  approveMcpServer: approveMcpServerRoute,
  approveNamedMcpServer: approveNamedMcpServerRoute,
  requestMcpServerApproval: requestMcpServerApprovalRoute,
  revokeMcpServer: revokeMcpServerRoute,
  disableMcpServer: disableMcpServerRoute,
  scanMcpServer: scanMcpServerRoute,
  listAuthProfiles: listAuthProfilesRoute,
  putAuthProfile: putAuthProfileRoute,
  authorizeMcpCall: authorizeMcpCallRoute,
  listSandboxProfiles: listSandboxProfilesRoute,
  listSandboxGrants: listSandboxGrantsRoute,
  createSandboxGrant: createSandboxGrantRoute,
  getSandboxGrant: getSandboxGrantRoute,
  verifySandboxGrant: verifySandboxGrantRoute,
  inspectSandboxGrant: inspectSandboxGrantRoute,
  preflightSandbox: preflightSandboxRoute,
  listRegisteredTools: listRegisteredToolsRoute,
  listDriftedTools: listDriftedToolsRoute,
  listActions: listActionsRoute,
  listSeenAgents: listSeenAgentsRoute,
  getSeenAgent: getSeenAgentRoute,
  getDecisionStats: getDecisionStatsRoute,
  deleteDecisionStats: deleteDecisionStatsRoute,
  runConformance: runConformanceRoute,
  listConformanceReports: listConformanceReportsRoute,
  getConformanceReport: getConformanceReportRoute,
  listConformanceVectors: listConformanceVectorsRoute,
  listNegativeVectors: listNegativeVectorsRoute,
};
