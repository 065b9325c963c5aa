import type { Endpoint, Lifecycle, Log } from '@countersign/service-kit';
import {
  AssertionVerifier,
  createHttpApp,
  createLifecycle,
  createLogger,
  createRateLimiter,
  healthEndpoints,
  serveHttp,
} from '@countersign/service-kit';
import { PresentedKeys } from './controls/access-keys/presented-keys.ts';
import { RunCredential } from './evidence/conformance/run-credential.ts';
import { controls } from './controls.ts';
import { callerKey, createGuards } from './guards.ts';
import { AgentTokens } from './controls/identities/agent-tokens.ts';
import { keepPartsOf } from './local/keep-policy.ts';
import { localCommands, type LocalCommands, type LocalNames } from './local/local-commands.ts';
import { openCore, type Core } from './local/open-core.ts';
import { listApprovalsRoute, transitionApprovalRoute } from './routes/local/local-approvals.ts';
import { createCheckpointRoute } from './routes/local/local-checkpoints.ts';
import { getReceiptRoute, listReceiptsRoute, listRecordsRoute } from './routes/local/local-receipts.ts';
import { fileAnswers } from './local/registry-file/file-answers.ts';
import { evaluateRoute } from './routes/evaluation/evaluate.ts';
import { runSelfTest } from './decision/self-test/self-test.ts';
import { throwawaySigner } from './signers.ts';
import { watchPolicyFile } from './workers/policy-file.ts';

/** The port of `countersign serve`. */
const localBoundaryPort = 7_714;

const host = '127.0.0.1';
const policyFileIntervalMs = 5_000;
const selfTestDecisions = 0;

type ServeOptions = {
  /** The registry file. */
  path: string;
  /** The policy of all tenants. `null` for the active policy in the registry file. */
  policyFile: string | null;
  port?: number;
  log?: Log;
  clock?: () => Date;
};

type Served = { url: string; path: string; stop(): Promise<unknown> };

const logOrigin = 'countersign.local/boundary';

/**
 * Serves the local policy boundary on 127.0.0.1: the decision cycle of the kernel over the registry file. Rejects when
 * a gate does not deny its fault, when the file is damaged, or when the policy cannot be used.
 */
export async function serveLocalBoundary(options: ServeOptions): Promise<Served> {
  const { port = localBoundaryPort, log = warnings(), clock } = options;
  const lifecycle = createLifecycle(log);
  const publicUrl = `http://${host}:${port}`;
  const core = await openCore({
    path: options.path,
    log,
    logOrigin,
    publicUrl,
    ...(clock === undefined ? {} : { clock }),
  });
  await core.file.read();
  lifecycle.onClose('ledger', () => core.ledger.close());
  try {
    const url = await startServing(core, { ...options, port, lifecycle });
    return { url, path: core.file.path, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

type Starting = Pick<ServeOptions, 'policyFile'> & { port: number; lifecycle: Lifecycle };

async function startServing(core: Core, { policyFile, port, lifecycle }: Starting): Promise<string> {
  const selfTest = await runSelfTest({
    cycle: core.cycle,
    signer: throwawaySigner(),
    controls,
    decisions: selfTestDecisions,
  });
  const watched = await keepPolicy(core, policyFile);
  lifecycle.onClose('policy file', async () => watched?.close());
  const app = createHttpApp({
    endpoints: [...endpointsOf(core), ...healthEndpoints(readinessOf(core, selfTest), lifecycle)],
    guards: guardsOf(core),
    log: core.log,
    rateLimiter: createRateLimiter(),
    idempotency: fileAnswers(core.file, core.clock),
    callerKey,
    guardQuery: ['tenant_id'],
    checkReplies: true,
  });
  const server = await serveHttp(app, { host, port });
  lifecycle.onClose('http', () => server.close());
  return server.url;
}

function warnings(): Log {
  return createLogger({ service: 'local-boundary', level: 'warn', silent: false, layout: 'readable' });
}

function endpointsOf(core: Core): Endpoint[] {
  return [
    evaluateRoute(core),
    listReceiptsRoute(core),
    getReceiptRoute(core),
    listRecordsRoute(core),
    listApprovalsRoute(core),
    transitionApprovalRoute(core),
    createCheckpointRoute(core),
  ];
}

/**
 * The kernel's own guards. The file contains no agent keys, tokens or assertions, so only the operator key opens a
 * route.
 */
function guardsOf({ provider, clock, keys }: Core) {
  return createGuards({
    config: { adminApiKey: keys.operator_key, serviceApiKey: keys.operator_key, oauth: null },
    presentedKeys: new PresentedKeys({
      ...{ provider, clock },
      find: async () => null,
      findById: async () => null,
      recordUses: async () => undefined,
    }),
    agentTokens: new AgentTokens({ clock, audience: logOrigin, findLiveKey: async () => null }),
    assertions: AssertionVerifier.ofWorkspaces([], clock),
    oauthTokens: null,
    runCredential: new RunCredential(),
  });
}

async function keepPolicy(core: Core, policyFile: string | null): Promise<{ close(): Promise<void> } | null> {
  await core.policies.reload('*');
  if (policyFile === null) return null;
  const { clockGuard, log } = core;
  return await watchPolicyFile({
    ...keepPartsOf(core),
    ...{ clockGuard, log, path: policyFile, intervalMs: policyFileIntervalMs },
  });
}

function readinessOf({ file, clockGuard, keyGuard, policies }: Core, { denying }: { denying: readonly string[] }) {
  return {
    gates: async () => {
      if (denying.length === 0) throw new Error('No gate denied in the self-test');
    },
    database: () => file.read(),
    clock: clockGuard.check,
    policy: async () => {
      if (policies.current('*') === null) throw new Error('No policy is active, so every call is denied');
    },
    signer: () => keyGuard.assertCounting(['receipts', 'policies', 'log']),
  };
}

type OpenOptions = LocalNames & { path: string; clock?: () => Date };

/** Opens a registry file for one standalone invocation. Rejects when the file or its keys are damaged. */
export async function openLocalBoundary({ path, clock, ...names }: OpenOptions): Promise<LocalCommands> {
  const log = createLogger({ service: 'local-boundary', level: 'error', silent: true, layout: 'json' });
  const publicUrl = `http://${host}:${localBoundaryPort}`;
  const core = await openCore({ ...{ path, log, logOrigin, publicUrl }, ...(clock === undefined ? {} : { clock }) });
  await core.file.read();
  return localCommands(core, names);
}

export { keysPathOf } from './local/boundary-keys.ts';
