import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  healthEndpoints,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards, tellCaller } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { acceptPasskeyRoute } from './routes/accept-passkey.ts';
import { assertSignInRoute } from './routes/assert-sign-in.ts';
import { assertApprovalRoute } from './routes/assert-approval.ts';
import { challengeApprovalRoute } from './routes/challenge-approval.ts';
import { challengeSignInRoute } from './routes/challenge-sign-in.ts';
import { challengeVoucherRoute } from './routes/challenge-voucher.ts';
import { listPasskeysRoute } from './routes/list-passkeys.ts';
import { putApprovalTermsRoute } from './routes/put-approval-terms.ts';
import { registerPasskeyRoute } from './routes/register-passkey.ts';
import { revokeOwnPasskeyRoute } from './routes/revoke-own-passkey.ts';
import { revokePasskeyRoute } from './routes/revoke-passkey.ts';
import { verifyPasskeyRoute } from './routes/verify-passkey.ts';
import { vouchForPasskeyRoute } from './routes/vouch-for-passkey.ts';
import { showPasskeyScriptRoute } from './routes/show-passkey-script.ts';
import { challengeOnPageRoute } from './routes/challenge-on-page.ts';
import { assertOnPageRoute } from './routes/assert-on-page.ts';
import { registerOnPageRoute } from './routes/register-on-page.ts';
import { verifyOnPageRoute } from './routes/verify-on-page.ts';
import { showWaitingPasskeysRoute } from './routes/show-waiting-passkeys.ts';
import { challengeVoucherOnPageRoute } from './routes/challenge-voucher-on-page.ts';
import { vouchOnPageRoute } from './routes/vouch-on-page.ts';
import { approveByKernelRoute } from './routes/approve-by-kernel.ts';
import { callMcpRoute } from './routes/call-mcp.ts';
import { checkRelationRoute } from './routes/check-relation.ts';
import { createAccessKeyRoute } from './routes/create-access-key.ts';
import { confirmActivationRoute } from './routes/confirm-activation.ts';
import { createActivationSignatureRoute } from './routes/create-activation-signature.ts';
import { createApprovalRoute } from './routes/create-approval.ts';
import { createChatCompletionRoute } from './routes/create-chat-completion.ts';
import { createCheckpointRoute } from './routes/create-checkpoint.ts';
import { createKeyChallengeRoute } from './routes/create-key-challenge.ts';
import { voteOnPageRoute } from './routes/vote-on-page.ts';
import { deleteShadowLaneRoute } from './routes/delete-shadow-lane.ts';
import { describeMcpRoute } from './routes/describe-mcp.ts';
import { enrolIdentityKeyRoute } from './routes/enrol-identity-key.ts';
import { evaluateRoute } from './routes/evaluate.ts';
import { executeMcpRoute } from './routes/execute-mcp.ts';
import { exportReceiptsRoute } from './routes/export-receipts.ts';
import { frontPageRoute } from './routes/front-page.ts';
import { getBudgetRoute } from './routes/get-budget.ts';
import { getAuthzHealthRoute } from './routes/get-authz-health.ts';
import { getConsistencyProofRoute } from './routes/get-consistency-proof.ts';
import { getConformanceReportRoute } from './routes/get-conformance-report.ts';
import { listBoundaryTargetsRoute } from './routes/list-boundary-targets.ts';
import { getBoundaryStatusRoute } from './routes/get-boundary-status.ts';
import { listBoundaryCapabilitiesRoute } from './routes/list-boundary-capabilities.ts';
import { getConsoleBootstrapRoute } from './routes/get-console-bootstrap.ts';
import { listConsoleSurfacesRoute } from './routes/list-console-surfaces.ts';
import { getConsoleSurfaceRoute } from './routes/get-console-surface.ts';
import { exportTelemetryRoute } from './routes/export-telemetry.ts';
import { getOtelConfigRoute } from './routes/get-otel-config.ts';
import { getCoexistenceCapabilitiesRoute } from './routes/get-coexistence-capabilities.ts';
import { getFenceRoute } from './routes/get-fence.ts';
import { getInclusionProofRoute } from './routes/get-inclusion-proof.ts';
import { getLatestCheckpointRoute } from './routes/get-latest-checkpoint.ts';
import { getPolicyCeilingsRoute } from './routes/get-policy-ceilings.ts';
import { getReceiptRoute } from './routes/get-receipt.ts';
import { getRecordRoute } from './routes/get-record.ts';
import { getRelationSnapshotRoute } from './routes/get-relation-snapshot.ts';
import { healthzRoute, versionRoute } from './routes/health.ts';
import { listAccessKeysRoute } from './routes/list-access-keys.ts';
import { listAgentsRoute } from './routes/list-agents.ts';
import { listApprovalsRoute } from './routes/list-approvals.ts';
import { listBudgetsRoute } from './routes/list-budgets.ts';
import { listCheckpointsRoute } from './routes/list-checkpoints.ts';
import { listConformanceReportsRoute } from './routes/list-conformance-reports.ts';
import { listConformanceVectorsRoute } from './routes/list-conformance-vectors.ts';
import { listFencesRoute } from './routes/list-fences.ts';
import { getModelRoute, listModelsRoute } from './routes/models.ts';
import { listMcpCapabilitiesRoute } from './routes/list-mcp-capabilities.ts';
import { listNegativeVectorsRoute } from './routes/list-negative-vectors.ts';
import { listOperatorsRoute } from './routes/list-operators.ts';
import { listDriftedToolsRoute } from './routes/list-drifted-tools.ts';
import { listRegisteredToolsRoute } from './routes/list-registered-tools.ts';
import { listActionsRoute } from './routes/list-actions.ts';
import { listReceiptsRoute } from './routes/list-receipts.ts';
import { listRecordsRoute } from './routes/list-records.ts';
import { listRelationSnapshotsRoute } from './routes/list-relation-snapshots.ts';
import { listSubjectRelationsRoute } from './routes/list-subject-relations.ts';
import { listTrustKeysRoute } from './routes/list-trust-keys.ts';
import { putBudgetRoute } from './routes/put-budget.ts';
import { putCeilingRoute } from './routes/put-ceiling.ts';
import { putFenceRoute } from './routes/put-fence.ts';
import { putIdentityRoute } from './routes/put-identity.ts';
import { putPermissionModelRoute } from './routes/put-permission-model.ts';
import { putPolicyBundleRoute } from './routes/put-policy-bundle.ts';
import { putPolicyCeilingsRoute } from './routes/put-policy-ceilings.ts';
import { putTenantRoute } from './routes/put-tenant.ts';
import { putShadowLaneRoute } from './routes/put-shadow-lane.ts';
import { getPolicyBundleRoute } from './routes/get-policy-bundle.ts';
import { getPolicyInForceRoute } from './routes/get-policy-in-force.ts';
import { listLedgerEntriesRoute } from './routes/list-ledger-entries.ts';
import { putMembersRoute } from './routes/put-members.ts';
import { putToolBlocksRoute } from './routes/put-tool-blocks.ts';
import { recordBudgetUsageRoute } from './routes/record-budget-usage.ts';
import { revokeAccessKeyRoute } from './routes/revoke-access-key.ts';
import { revokeIdentityKeyRoute } from './routes/revoke-identity-key.ts';
import { revokeIdentityRoute } from './routes/revoke-identity.ts';
import { runConformanceRoute } from './routes/run-conformance.ts';
import { runDemoRoute } from './routes/run-demo.ts';
import { showApprovalPageRoute } from './routes/show-approval-page.ts';
import { signInApproverRoute } from './routes/sign-in-approver.ts';
import { signOutApproverRoute } from './routes/sign-out-approver.ts';
import { tailReceiptsRoute } from './routes/tail-receipts.ts';
import { tamperDemoRoute } from './routes/tamper-demo.ts';
import { transitionApprovalRoute } from './routes/transition-approval.ts';
import { withdrawApprovalRoute } from './routes/withdraw-approval.ts';
import { verifyCheckpointRoute } from './routes/verify-checkpoint.ts';
import { verifyDemoRoute } from './routes/verify-demo.ts';
import { verifyRecordRoute } from './routes/verify-record.ts';
import { writeRelationshipsRoute } from './routes/write-relationships.ts';
import { evaluateAccessRoute } from './routes/evaluate-access.ts';
import { evaluateAccessesRoute } from './routes/evaluate-accesses.ts';
import { searchSubjectsRoute } from './routes/search-subjects.ts';
import { searchResourcesRoute } from './routes/search-resources.ts';
import { searchActionsRoute } from './routes/search-actions.ts';
import { getAuthzenConfigurationRoute } from './routes/get-authzen-configuration.ts';
import type { Workers } from './workers/start-workers.ts';

type Stopping = Pick<Lifecycle, 'isStopping'>;

/** Every route of the kernel. */
export function createApp(kernel: Context, lifecycle: Stopping, workers: Pick<Workers, 'check'>): HttpApp {
  const endpoints = [
    frontPageRoute(kernel),
    openApiEndpoint('governance-kernel'),
    healthzRoute(kernel),
    versionRoute(kernel),
    ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel, workers)),
    ...(kernel.config.hasDemo ? [runDemoRoute(kernel), verifyDemoRoute(kernel), tamperDemoRoute(kernel)] : []),
    ...governedDoors(kernel),
    ...proofRoutes(kernel),
    ...controlRoutes(kernel),
    ...standingRoutes(kernel),
    ...relationRoutes(kernel),
  ];
  return createHttpApp({
    ...httpOptionsOf(kernel.config),
    endpoints,
    guards: createGuards(kernel),
    log: kernel.log,
    telemetry: kernel.telemetry,
    // Whatever decides is under load: Express's own work per request would be a large part of each.
    fastOperations: endpoints.filter(({ route }) => route.governed === true).map(({ route }) => route.operation),
    idempotency: kernel.answers,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    tellCaller,
    guardQuery: ['tenant_id'],
  });
}

const governedDoors = (kernel: Context) => [
  evaluateRoute(kernel),
  createChatCompletionRoute(kernel),
  listModelsRoute(kernel),
  getModelRoute(kernel),
  describeMcpRoute(kernel),
  callMcpRoute(kernel),
  listMcpCapabilitiesRoute(kernel),
  listRegisteredToolsRoute(kernel),
  listDriftedToolsRoute(kernel),
  listActionsRoute(kernel),
  executeMcpRoute(kernel),
];

const proofRoutes = (kernel: Context) => [
  listReceiptsRoute(kernel),
  getReceiptRoute(kernel),
  tailReceiptsRoute(kernel),
  exportReceiptsRoute(kernel),
  listRecordsRoute(kernel),
  getRecordRoute(kernel),
  verifyRecordRoute(kernel),
  listCheckpointsRoute(kernel),
  createCheckpointRoute(kernel),
  verifyCheckpointRoute(kernel),
  getLatestCheckpointRoute(kernel),
  getInclusionProofRoute(kernel),
  getConsistencyProofRoute(kernel),
  listTrustKeysRoute(kernel),
  ...conformanceRoutes(kernel),
];

/** What the kernel proves about itself. */
const conformanceRoutes = (kernel: Context) => [
  runConformanceRoute(kernel),
  listConformanceReportsRoute(kernel),
  getConformanceReportRoute(kernel),
  listConformanceVectorsRoute(kernel),
  listNegativeVectorsRoute(kernel),
];

/** The passkeys of people, and votes with them. */
const passkeyRoutes = (kernel: Context) => [
  challengeApprovalRoute(kernel),
  assertApprovalRoute(kernel),
  putApprovalTermsRoute(kernel),
  registerPasskeyRoute(kernel),
  verifyPasskeyRoute(kernel),
  listPasskeysRoute(kernel),
  revokePasskeyRoute(kernel),
  challengeVoucherRoute(kernel),
  challengeSignInRoute(kernel),
  assertSignInRoute(kernel),
  revokeOwnPasskeyRoute(kernel),
  vouchForPasskeyRoute(kernel),
  acceptPasskeyRoute(kernel),
  showPasskeyScriptRoute(),
  challengeOnPageRoute(kernel),
  assertOnPageRoute(kernel),
  registerOnPageRoute(kernel),
  verifyOnPageRoute(kernel),
  showWaitingPasskeysRoute(kernel),
  challengeVoucherOnPageRoute(kernel),
  vouchOnPageRoute(kernel),
];

/** What decisions rest on, and who may change it. */
const controlRoutes = (kernel: Context) => [
  listApprovalsRoute(kernel),
  createApprovalRoute(kernel),
  withdrawApprovalRoute(kernel),
  transitionApprovalRoute(kernel),
  approveByKernelRoute(kernel),
  ...passkeyRoutes(kernel),
  showApprovalPageRoute(kernel),
  signInApproverRoute(kernel),
  signOutApproverRoute(kernel),
  voteOnPageRoute(kernel),
  listAccessKeysRoute(kernel),
  createAccessKeyRoute(kernel),
  revokeAccessKeyRoute(kernel),
  ...identityRoutes(kernel),
  listBudgetsRoute(kernel),
  putBudgetRoute(kernel),
  putCeilingRoute(kernel),
  getBudgetRoute(kernel),
  recordBudgetUsageRoute(kernel),
  putPolicyBundleRoute(kernel),
  putPolicyCeilingsRoute(kernel),
  getPolicyCeilingsRoute(kernel),
  getPolicyInForceRoute(kernel),
  getPolicyBundleRoute(kernel),
  listLedgerEntriesRoute(kernel),
  putShadowLaneRoute(kernel),
  deleteShadowLaneRoute(kernel),
  createActivationSignatureRoute(kernel),
  confirmActivationRoute(kernel),
  putMembersRoute(kernel),
  putToolBlocksRoute(kernel),
  putFenceRoute(kernel),
  getFenceRoute(kernel),
  listFencesRoute(kernel),
  putTenantRoute(kernel),
];

/** Who there is in a tenant, and by which keys they are known. */
const identityRoutes = (kernel: Context) => [
  listAgentsRoute(kernel),
  listOperatorsRoute(kernel),
  putIdentityRoute(kernel),
  createKeyChallengeRoute(kernel),
  enrolIdentityKeyRoute(kernel),
  revokeIdentityKeyRoute(kernel),
  revokeIdentityRoute(kernel),
];

/** What is told of all that, and decides nothing. */
const standingRoutes = (kernel: Context) => [
  getBoundaryStatusRoute(kernel),
  listBoundaryTargetsRoute(kernel),
  listBoundaryCapabilitiesRoute(kernel),
  getConsoleBootstrapRoute(kernel),
  listConsoleSurfacesRoute(kernel),
  getConsoleSurfaceRoute(kernel),
  getOtelConfigRoute(kernel),
  exportTelemetryRoute(kernel),
  getCoexistenceCapabilitiesRoute(kernel),
];

/** Who has which relation with what, and who asks. */
const relationRoutes = (kernel: Context) => [
  writeRelationshipsRoute(kernel),
  listSubjectRelationsRoute(kernel),
  putPermissionModelRoute(kernel),
  checkRelationRoute(kernel),
  getAuthzHealthRoute(kernel),
  listRelationSnapshotsRoute(kernel),
  getRelationSnapshotRoute(kernel),
  evaluateAccessRoute(kernel),
  evaluateAccessesRoute(kernel),
  searchSubjectsRoute(kernel),
  searchResourcesRoute(kernel),
  searchActionsRoute(kernel),
  getAuthzenConfigurationRoute(kernel),
];

/** The separate health port serves probes, and a page that says so, under the same names. */
export function createHealthApp(kernel: Context, lifecycle: Stopping, workers: Pick<Workers, 'check'>): HttpApp {
  return createHttpApp({
    endpoints: [
      frontPageRoute(kernel),
      healthzRoute(kernel),
      ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel, workers)),
    ],
    guards: createGuards(kernel),
    log: kernel.log,
    hosts: kernel.config.allowedHosts,
    mount: mountMetrics(kernel.telemetry),
  });
}
