import { AppError } from '@countersign/contracts';
import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  createRateLimiter,
  healthEndpoints,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Kernel } from './context.ts';
import { kernelGuards } from './guards.ts';
import { approveByKernelRoute } from './routes/approve-by-kernel.ts';
import { callMcpRoute } from './routes/call-mcp.ts';
import { createApprovalRoute } from './routes/create-approval.ts';
import { createChatCompletionRoute } from './routes/create-chat-completion.ts';
import { createCheckpointRoute } from './routes/create-checkpoint.ts';
import { describeMcpRoute } from './routes/describe-mcp.ts';
import { evaluateRoute } from './routes/evaluate.ts';
import { executeMcpRoute } from './routes/execute-mcp.ts';
import { exportReceiptsRoute } from './routes/export-receipts.ts';
import { getConsistencyProofRoute } from './routes/get-consistency-proof.ts';
import { getInclusionProofRoute } from './routes/get-inclusion-proof.ts';
import { getLatestCheckpointRoute } from './routes/get-latest-checkpoint.ts';
import { getReceiptRoute } from './routes/get-receipt.ts';
import { getRecordRoute } from './routes/get-record.ts';
import { healthzRoute, versionRoute } from './routes/health.ts';
import { listApprovalsRoute } from './routes/list-approvals.ts';
import { listBudgetsRoute } from './routes/list-budgets.ts';
import { listCheckpointsRoute } from './routes/list-checkpoints.ts';
import { listMcpCapabilitiesRoute } from './routes/list-mcp-capabilities.ts';
import { listReceiptsRoute } from './routes/list-receipts.ts';
import { listRecordsRoute } from './routes/list-records.ts';
import { listTrustKeysRoute } from './routes/list-trust-keys.ts';
import { putBudgetRoute } from './routes/put-budget.ts';
import { putPolicyBundleRoute } from './routes/put-policy-bundle.ts';
import { readinessChecks, toldChecks } from './routes/readiness.ts';
import { runDemoRoute } from './routes/run-demo.ts';
import { tailReceiptsRoute } from './routes/tail-receipts.ts';
import { tamperDemoRoute } from './routes/tamper-demo.ts';
import { transitionApprovalRoute } from './routes/transition-approval.ts';
import { verifyCheckpointRoute } from './routes/verify-checkpoint.ts';
import { verifyDemoRoute } from './routes/verify-demo.ts';
import { verifyRecordRoute } from './routes/verify-record.ts';

type Stopping = Pick<Lifecycle, 'isStopping'>;

/** Every route of the kernel, in the order of the published contract. */
export function createApp(kernel: Kernel, lifecycle: Stopping): HttpApp {
  const { config } = kernel;
  return createHttpApp({
    endpoints: [
      healthzRoute(kernel),
      versionRoute(kernel),
      ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel)),
      runDemoRoute(kernel),
      verifyDemoRoute(kernel),
      tamperDemoRoute(kernel),
      evaluateRoute(kernel),
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
      listApprovalsRoute(kernel),
      createApprovalRoute(kernel),
      transitionApprovalRoute(kernel),
      approveByKernelRoute(kernel),
      listBudgetsRoute(kernel),
      putBudgetRoute(kernel),
      putPolicyBundleRoute(kernel),
      createChatCompletionRoute(kernel),
      describeMcpRoute(kernel),
      callMcpRoute(kernel),
      listMcpCapabilitiesRoute(kernel),
      executeMcpRoute(kernel),
    ],
    guards: kernelGuards(config),
    log: kernel.log,
    fastOperations: ['evaluate'],
    cors: { origins: config.GOV_ALLOWED_ORIGINS },
    rateLimiter: config.GOV_RATE_LIMITS ? createRateLimiter() : null,
    idempotency: kernel.answers,
    classifyErrors: [storeFault],
    callerKey,
    trustedProxies: config.GOV_TRUSTED_PROXIES,
    guardQuery: ['tenant_id'],
    checkReplies: config.NODE_ENV !== 'production',
  });
}

/** The separate health port serves probes and nothing else. */
export function createHealthApp(kernel: Kernel, lifecycle: Stopping): HttpApp {
  return createHttpApp({
    endpoints: [healthzRoute(kernel), ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel))],
    guards: kernelGuards(kernel.config),
    log: kernel.log,
  });
}

function storeFault(error: unknown): AppError | null {
  return isUnavailable(error)
    ? new AppError('STORE_UNAVAILABLE', 'The database does not answer', { cause: error })
    : null;
}

function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('principal' in caller)) return null;
  const tenant = 'tenant' in caller ? String(caller.tenant) : '';
  return `${tenant}\n${String(caller.principal)}`;
}
