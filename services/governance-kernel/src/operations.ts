import type { kernelRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { acceptPasskeyRoute } from './routes/passkeys/accept-passkey.ts';
import { approveByKernelRoute } from './routes/approvals/approve-by-kernel.ts';
import { approveMcpServerRoute, approveNamedMcpServerRoute } from './routes/mcp-registry/approve-mcp-server.ts';
import { assertApprovalRoute } from './routes/approvals/assert-approval.ts';
import { assertOnPageRoute } from './routes/passkeys/assert-on-page.ts';
import { assertSignInRoute } from './routes/passkeys/assert-sign-in.ts';
import { authorizeMcpCallRoute } from './routes/mcp/authorize-mcp-call.ts';
import { callMcpRoute } from './routes/mcp/call-mcp.ts';
import { addTrustKeysRoute, revokeTrustKeysRoute } from './routes/log/change-trust-keys.ts';
import { challengeApprovalRoute } from './routes/approvals/challenge-approval.ts';
import { challengeOnPageRoute } from './routes/passkeys/challenge-on-page.ts';
import { challengeSignInRoute } from './routes/passkeys/challenge-sign-in.ts';
import { challengeVoucherRoute } from './routes/passkeys/challenge-voucher.ts';
import { challengeVoucherOnPageRoute } from './routes/passkeys/challenge-voucher-on-page.ts';
import { checkRelationRoute } from './routes/relations/check-relation.ts';
import { compareMcpServerAddressRoute } from './routes/mcp-registry/compare-mcp-server-address.ts';
import { confirmActivationRoute } from './routes/policy/confirm-activation.ts';
import { createAccessKeyRoute } from './routes/identities/create-access-key.ts';
import { createActivationSignatureRoute } from './routes/policy/create-activation-signature.ts';
import { createApprovalRoute } from './routes/approvals/create-approval.ts';
import { createChatCompletionRoute } from './routes/chat/create-chat-completion.ts';
import { createCheckpointRoute } from './routes/records/create-checkpoint.ts';
import { createEnvelopeRoute } from './routes/evidence/create-envelope.ts';
import { disableMcpServerRoute } from './routes/mcp-registry/disable-mcp-server.ts';
import { getEnvelopeRoute } from './routes/evidence/get-envelope.ts';
import { getEnvelopePayloadRoute } from './routes/evidence/get-envelope-payload.ts';
import { listEnvelopesRoute } from './routes/evidence/list-envelopes.ts';
import { listEvidenceKeysRoute } from './routes/evidence/list-evidence-keys.ts';
import { verifyEnvelopeRoute } from './routes/evidence/verify-envelope.ts';
import { createKeyChallengeRoute } from './routes/identities/create-key-challenge.ts';
import { createSandboxGrantRoute } from './routes/sandbox/create-sandbox-grant.ts';
import { deleteDecisionStatsRoute } from './routes/status/delete-decision-stats.ts';
import { deleteShadowLaneRoute } from './routes/policy/delete-shadow-lane.ts';
import { describeMcpRoute } from './routes/mcp/describe-mcp.ts';
import { endApprovalsRoute } from './routes/approvals/end-approvals.ts';
import { enrolIdentityKeyRoute } from './routes/identities/enrol-identity-key.ts';
import { evaluateRoute } from './routes/evaluation/evaluate.ts';
import { evaluateAccessRoute } from './routes/evaluation/evaluate-access.ts';
import { evaluateAccessesRoute } from './routes/evaluation/evaluate-accesses.ts';
import { executeMcpRoute } from './routes/mcp/execute-mcp.ts';
import { exportEvidenceRoute } from './routes/evidence/export-evidence.ts';
import { exportReceiptsRoute } from './routes/receipts/export-receipts.ts';
import { exportTelemetryRoute } from './routes/status/export-telemetry.ts';
import { getAgentUiInfoRoute, getAgUiInfoRoute } from './routes/agent-ui/get-agent-ui-info.ts';
import { getAuthzHealthRoute } from './routes/relations/get-authz-health.ts';
import { getAuthzenConfigurationRoute } from './routes/evaluation/get-authzen-configuration.ts';
import { getBoundaryStatusRoute } from './routes/status/get-boundary-status.ts';
import { getBudgetRoute } from './routes/budgets/get-budget.ts';
import { getCoexistenceCapabilitiesRoute } from './routes/status/get-coexistence-capabilities.ts';
import { getConformanceReportRoute } from './routes/conformance/get-conformance-report.ts';
import { getConsistencyProofRoute } from './routes/log/get-consistency-proof.ts';
import { getConsoleBootstrapRoute } from './routes/status/get-console-bootstrap.ts';
import { getConsoleSurfaceRoute } from './routes/status/get-console-surface.ts';
import { getDecisionStatsRoute } from './routes/status/get-decision-stats.ts';
import { getFenceRoute } from './routes/fences/get-fence.ts';
import { getGraphReceiptRoute } from './routes/proof-graph/get-graph-receipt.ts';
import { getHostChainRoute } from './routes/evidence/get-host-chain.ts';
import { getInclusionProofRoute } from './routes/log/get-inclusion-proof.ts';
import { getTlogProofRoute } from './routes/log/get-tlog-proof.ts';
import { getLatestCheckpointRoute } from './routes/log/get-latest-checkpoint.ts';
import { getMcpServerRoute } from './routes/mcp-registry/get-mcp-server.ts';
import { getOauthProtectedResourceRoute } from './routes/mcp/get-oauth-protected-resource.ts';
import { getOtelConfigRoute } from './routes/status/get-otel-config.ts';
import { getPolicyBundleRoute } from './routes/policy/get-policy-bundle.ts';
import { getPolicyCeilingsRoute } from './routes/policy/get-policy-ceilings.ts';
import { getPolicyInForceRoute } from './routes/policy/get-policy-in-force.ts';
import { getReceiptRoute } from './routes/receipts/get-receipt.ts';
import { getRecordRoute } from './routes/records/get-record.ts';
import { getRelationSnapshotRoute } from './routes/relations/get-relation-snapshot.ts';
import { getSandboxGrantRoute } from './routes/sandbox/get-sandbox-grant.ts';
import { getTrustListRoute } from './routes/log/get-trust-list.ts';
import { getSeenAgentRoute } from './routes/identities/get-seen-agent.ts';
import { healthzRoute, versionRoute } from './routes/health.ts';
import { importHostChainRoute } from './routes/evidence/import-host-chain.ts';
import { inspectSandboxGrantRoute } from './routes/sandbox/inspect-sandbox-grant.ts';
import { listAccessKeysRoute } from './routes/identities/list-access-keys.ts';
import { listActionsRoute } from './routes/tools/list-actions.ts';
import { listAgentsRoute } from './routes/identities/list-agents.ts';
import { getApprovalContextRoute } from './routes/approvals/get-approval-context.ts';
import { listApprovalsRoute } from './routes/approvals/list-approvals.ts';
import { listAuthProfilesRoute } from './routes/mcp/list-auth-profiles.ts';
import { listBoundaryCapabilitiesRoute } from './routes/status/list-boundary-capabilities.ts';
import { listBoundaryTargetsRoute } from './routes/status/list-boundary-targets.ts';
import { listBudgetsRoute } from './routes/budgets/list-budgets.ts';
import { listCheckpointsRoute } from './routes/records/list-checkpoints.ts';
import { listConformanceReportsRoute } from './routes/conformance/list-conformance-reports.ts';
import { listConformanceVectorsRoute } from './routes/conformance/list-conformance-vectors.ts';
import { listConsoleSurfacesRoute } from './routes/status/list-console-surfaces.ts';
import { listDriftedToolsRoute } from './routes/tools/list-drifted-tools.ts';
import { listFencesRoute } from './routes/fences/list-fences.ts';
import { listGalleryServersRoute } from './routes/mcp-registry/list-gallery-servers.ts';
import { listGraphReceiptsRoute } from './routes/proof-graph/list-graph-receipts.ts';
import { listGraphSessionsRoute } from './routes/proof-graph/list-graph-sessions.ts';
import { listHostDriftRoute } from './routes/evidence/list-host-drift.ts';
import { listLedgerEntriesRoute } from './routes/records/list-ledger-entries.ts';
import { listMeteredReceiptsRoute } from './routes/records/list-metered-receipts.ts';
import { listMcpCapabilitiesRoute } from './routes/mcp/list-mcp-capabilities.ts';
import { listMcpServersRoute } from './routes/mcp-registry/list-mcp-servers.ts';
import { listNegativeVectorsRoute } from './routes/conformance/list-negative-vectors.ts';
import { listOperatorsRoute } from './routes/identities/list-operators.ts';
import { listPasskeysRoute } from './routes/passkeys/list-passkeys.ts';
import { listReceiptsRoute } from './routes/receipts/list-receipts.ts';
import { listRecordsRoute } from './routes/records/list-records.ts';
import { listRegisteredToolsRoute } from './routes/tools/list-registered-tools.ts';
import { listRelationSnapshotsRoute } from './routes/relations/list-relation-snapshots.ts';
import { listSandboxGrantsRoute } from './routes/sandbox/list-sandbox-grants.ts';
import { listSandboxProfilesRoute } from './routes/sandbox/list-sandbox-profiles.ts';
import { listSeenAgentsRoute } from './routes/identities/list-seen-agents.ts';
import { listSubjectRelationsRoute } from './routes/relations/list-subject-relations.ts';
import { listTrustKeysRoute } from './routes/log/list-trust-keys.ts';
import { listModelsRoute, getModelRoute } from './routes/chat/models.ts';
import { preflightSandboxRoute } from './routes/sandbox/preflight-sandbox.ts';
import { putApprovalTermsRoute } from './routes/passkeys/put-approval-terms.ts';
import { putAuthProfileRoute } from './routes/mcp/put-auth-profile.ts';
import { putBudgetRoute } from './routes/budgets/put-budget.ts';
import { putCeilingRoute } from './routes/budgets/put-ceiling.ts';
import { putFenceRoute } from './routes/fences/put-fence.ts';
import { putIdentityRoute } from './routes/identities/put-identity.ts';
import { putMembersRoute } from './routes/identities/put-members.ts';
import { putPermissionModelRoute } from './routes/relations/put-permission-model.ts';
import { putPolicyBundleRoute } from './routes/policy/put-policy-bundle.ts';
import { putPolicyCeilingsRoute } from './routes/policy/put-policy-ceilings.ts';
import { putShadowLaneRoute } from './routes/policy/put-shadow-lane.ts';
import { putTenantRoute } from './routes/identities/put-tenant.ts';
import { putToolBlocksRoute } from './routes/tools/put-tool-blocks.ts';
import { recordBudgetUsageRoute } from './routes/budgets/record-budget-usage.ts';
import { registerMcpServerRoute } from './routes/mcp-registry/register-mcp-server.ts';
import { registerOnPageRoute } from './routes/passkeys/register-on-page.ts';
import { registerPasskeyRoute } from './routes/passkeys/register-passkey.ts';
import { revokeAccessKeyRoute } from './routes/identities/revoke-access-key.ts';
import { revokeIdentityRoute } from './routes/identities/revoke-identity.ts';
import { revokeIdentityKeyRoute } from './routes/identities/revoke-identity-key.ts';
import { requestMcpServerApprovalRoute } from './routes/mcp-registry/request-mcp-server-approval.ts';
import { revokeMcpServerRoute } from './routes/mcp-registry/revoke-mcp-server.ts';
import { revokeOwnPasskeyRoute } from './routes/passkeys/revoke-own-passkey.ts';
import { revokePasskeyRoute } from './routes/passkeys/revoke-passkey.ts';
import { runAgentUiRoute, runAgUiRoute } from './routes/agent-ui/run-agent-ui.ts';
import { runConformanceRoute } from './routes/conformance/run-conformance.ts';
import { runDemoRoute } from './routes/demo/run-demo.ts';
import { scanMcpServerRoute } from './routes/mcp-registry/scan-mcp-server.ts';
import { searchActionsRoute } from './routes/evaluation/search-actions.ts';
import { searchResourcesRoute } from './routes/evaluation/search-resources.ts';
import { searchSubjectsRoute } from './routes/evaluation/search-subjects.ts';
import { showApprovalPageRoute } from './routes/approvals/show-approval-page.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { showPasskeyScriptRoute } from './routes/passkeys/show-passkey-script.ts';
import { showWaitingPasskeysRoute } from './routes/passkeys/show-waiting-passkeys.ts';
import { signInApproverRoute } from './routes/approvals/sign-in-approver.ts';
import { signOutApproverRoute } from './routes/approvals/sign-out-approver.ts';
import { tailReceiptsRoute } from './routes/receipts/tail-receipts.ts';
import { tamperDemoRoute } from './routes/demo/tamper-demo.ts';
import { transitionApprovalRoute } from './routes/approvals/transition-approval.ts';
import { verifyCheckpointRoute } from './routes/records/verify-checkpoint.ts';
import { verifyDemoRoute } from './routes/demo/verify-demo.ts';
import { verifyEvidenceRoute } from './routes/evidence/verify-evidence.ts';
import { verifyOnPageRoute } from './routes/passkeys/verify-on-page.ts';
import { verifyPasskeyRoute } from './routes/passkeys/verify-passkey.ts';
import { verifyRecordRoute } from './routes/records/verify-record.ts';
import { verifyReplayRoute } from './routes/evidence/verify-replay.ts';
import { verifySandboxGrantRoute } from './routes/sandbox/verify-sandbox-grant.ts';
import { voteOnPageRoute } from './routes/approvals/vote-on-page.ts';
import { vouchForPasskeyRoute } from './routes/passkeys/vouch-for-passkey.ts';
import { vouchOnPageRoute } from './routes/passkeys/vouch-on-page.ts';
import { withdrawApprovalRoute } from './routes/approvals/withdraw-approval.ts';
import { writeRelationshipsRoute } from './routes/relations/write-relationships.ts';

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
  getTlogProof: getTlogProofRoute,
  getConsistencyProof: getConsistencyProofRoute,
  listTrustKeys: listTrustKeysRoute,
  getTrustList: getTrustListRoute,
  addTrustKeys: addTrustKeysRoute,
  revokeTrustKeys: revokeTrustKeysRoute,
  listApprovals: listApprovalsRoute,
  getApprovalContext: getApprovalContextRoute,
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
  listMeteredReceipts: listMeteredReceiptsRoute,
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
  compareMcpServerAddress: compareMcpServerAddressRoute,
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
