import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  healthEndpoints,
  httpOptionsOf,
  openApiEndpoint,
  storeOutage,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { approveByKernelRoute } from './routes/approve-by-kernel.ts';
import { callMcpRoute } from './routes/call-mcp.ts';
import { createAccessKeyRoute } from './routes/create-access-key.ts';
import { createApprovalRoute } from './routes/create-approval.ts';
import { createChatCompletionRoute } from './routes/create-chat-completion.ts';
import { createCheckpointRoute } from './routes/create-checkpoint.ts';
import { voteOnPageRoute } from './routes/vote-on-page.ts';
import { describeMcpRoute } from './routes/describe-mcp.ts';
import { evaluateRoute } from './routes/evaluate.ts';
import { executeMcpRoute } from './routes/execute-mcp.ts';
import { exportReceiptsRoute } from './routes/export-receipts.ts';
import { frontPageRoute } from './routes/front-page.ts';
import { getConsistencyProofRoute } from './routes/get-consistency-proof.ts';
import { getFenceRoute } from './routes/get-fence.ts';
import { getInclusionProofRoute } from './routes/get-inclusion-proof.ts';
import { getLatestCheckpointRoute } from './routes/get-latest-checkpoint.ts';
import { getReceiptRoute } from './routes/get-receipt.ts';
import { getRecordRoute } from './routes/get-record.ts';
import { healthzRoute, versionRoute } from './routes/health.ts';
import { listAccessKeysRoute } from './routes/list-access-keys.ts';
import { listApprovalsRoute } from './routes/list-approvals.ts';
import { listBudgetsRoute } from './routes/list-budgets.ts';
import { listCheckpointsRoute } from './routes/list-checkpoints.ts';
import { listFencesRoute } from './routes/list-fences.ts';
import { listModelsRoute } from './routes/list-models.ts';
import { listMcpCapabilitiesRoute } from './routes/list-mcp-capabilities.ts';
import { listReceiptsRoute } from './routes/list-receipts.ts';
import { listRecordsRoute } from './routes/list-records.ts';
import { listTrustKeysRoute } from './routes/list-trust-keys.ts';
import { putBudgetRoute } from './routes/put-budget.ts';
import { putCeilingRoute } from './routes/put-ceiling.ts';
import { putFenceRoute } from './routes/put-fence.ts';
import { putPolicyBundleRoute } from './routes/put-policy-bundle.ts';
import { putToolBlocksRoute } from './routes/put-tool-blocks.ts';
import { revokeAccessKeyRoute } from './routes/revoke-access-key.ts';
import { runDemoRoute } from './routes/run-demo.ts';
import { showApprovalPageRoute } from './routes/show-approval-page.ts';
import { signInApproverRoute } from './routes/sign-in-approver.ts';
import { signOutApproverRoute } from './routes/sign-out-approver.ts';
import { tailReceiptsRoute } from './routes/tail-receipts.ts';
import { tamperDemoRoute } from './routes/tamper-demo.ts';
import { transitionApprovalRoute } from './routes/transition-approval.ts';
import { verifyCheckpointRoute } from './routes/verify-checkpoint.ts';
import { verifyDemoRoute } from './routes/verify-demo.ts';
import { verifyRecordRoute } from './routes/verify-record.ts';
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
  ];
  return createHttpApp({
    ...httpOptionsOf(kernel.config),
    endpoints,
    guards: createGuards(kernel),
    log: kernel.log,
    // Whatever decides is under load: Express's own work per request would be a large part of each.
    fastOperations: endpoints.filter(({ route }) => route.governed === true).map(({ route }) => route.operation),
    idempotency: kernel.answers,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    guardQuery: ['tenant_id'],
  });
}

const governedDoors = (kernel: Context) => [
  evaluateRoute(kernel),
  createChatCompletionRoute(kernel),
  listModelsRoute(kernel),
  describeMcpRoute(kernel),
  callMcpRoute(kernel),
  listMcpCapabilitiesRoute(kernel),
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
];

/** What decisions rest on, and who may change it. */
const controlRoutes = (kernel: Context) => [
  listApprovalsRoute(kernel),
  createApprovalRoute(kernel),
  transitionApprovalRoute(kernel),
  approveByKernelRoute(kernel),
  showApprovalPageRoute(kernel),
  signInApproverRoute(kernel),
  signOutApproverRoute(kernel),
  voteOnPageRoute(kernel),
  listAccessKeysRoute(kernel),
  createAccessKeyRoute(kernel),
  revokeAccessKeyRoute(kernel),
  listBudgetsRoute(kernel),
  putBudgetRoute(kernel),
  putCeilingRoute(kernel),
  putPolicyBundleRoute(kernel),
  putToolBlocksRoute(kernel),
  putFenceRoute(kernel),
  getFenceRoute(kernel),
  listFencesRoute(kernel),
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
  });
}
