import { createClient, type Client } from '@countersign/contracts';
import { type Fence } from '@countersign/contracts/governance-kernel';
import { createKernelClient, kernelRoutes } from '@countersign/contracts/routes';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { patienceMs } from '@countersign/testkit/until';
import type pg from 'pg';
import { kernelConfigFrom, startKernel, type KernelOverrides, type StartedKernel } from '../src/index.ts';
import { signedActivation } from './_policies.ts';
import { assertSealedVerifies } from './_sealed.ts';
import { serviceDir } from './_service-dir.ts';
import { tenantTwins } from './_twins.ts';

export const adminKey = 'test-admin-key-0123456789abcdef0123456789';
export const serviceKey = 'test-service-key-0123456789abcdef01234567';

export { kernelRoutes };
export type KernelClient = Client<typeof kernelRoutes>;

export type TestKernel = {
  kernel: StartedKernel;
  database: TestDatabase;
  /** The kernel's connection pool, for statements that bypass the kernel. */
  readonly pool: pg.Pool;
  env: Record<string, string>;
  as(tenant: string, principal?: string): KernelClient;
  system: KernelClient;
  activate(tenant: string, bundle: string, epoch?: number): Promise<void>;
  /** Sets a fence with a higher epoch than all fences before it. */
  setFence(scope: string, kind: Fence['kind'], callLimit?: number): Promise<Fence>;
  restart(overrides?: KernelOverrides): Promise<void>;
  close(): Promise<void>;
};

export type TestKernelOptions = {
  env?: Record<string, string>;
  overrides?: KernelOverrides;
  /** Whether tenants get twins. `false` in tests that count statements or fill large tables. */
  twins?: boolean;
  /** Why the receipts of this test need not verify at its end. */
  unverified?: Unverified;
  /**
   * Why no evidence packs are verified at the end of this test: its direct database writes contradict the controls in
   * the log.
   */
  contradicted?: 'its policies are written by hand' | undefined;
};

type Unverified =
  'its rows are written by hand' | 'its keys are revoked' | 'its log is damaged' | 'its gates are weakened';

let fenceEpoch = 0;

/**
 * Starts a kernel over HTTP with its own database. `close` throws when a tenant's twin changed, or when a sealed
 * receipt does not verify.
 */
export async function startTestKernel(options: TestKernelOptions = {}): Promise<TestKernel> {
  const twins = options.twins === false ? {} : { twins: tenantTwins };
  const database = await createTestDatabase({ serviceDir, schema: 'kernel', ...twins });
  const env = { ...environment(database.url), ...options.env };
  let kernel = await startKernel(kernelConfigFrom(env), options.overrides);
  const test: TestKernel = {
    get kernel() {
      return kernel;
    },
    database,
    get pool() {
      return poolOf(kernel);
    },
    env,
    as: (tenant, principal) => clientOf(kernel, tenant, principal),
    get system() {
      return systemOf(kernel.url);
    },
    activate: async (tenant, bundle, epoch = 1) => {
      await kernel.context.policies.activate(signedActivation(kernel, { tenant, bundle, epoch }));
    },
    setFence: async (scope, kind, callLimit) => {
      const throttle = kind === 'throttle' ? { call_limit: callLimit ?? 0, window_seconds: 3_600 } : {};
      const command = { kind, epoch: (fenceEpoch += 1), reason: 'test', set_by: 'operator', ...throttle };
      const input = { params: { scope }, body: command } as never; // the schema brands these strings and fills in the defaults
      return (await test.system.putFence(input)).body;
    },
    restart: async (overrides) => {
      await kernel.stop();
      kernel = await startKernel(kernelConfigFrom(env), overrides ?? options.overrides);
    },
    close: async () => {
      await kernel.stop();
      try {
        if (options.unverified === undefined)
          await assertSealedVerifies(test, { inPacks: options.contradicted === undefined });
      } finally {
        await database.drop();
      }
    },
  };
  return test;
}

/** An SDK client that calls for a principal of a tenant. */
export function clientOf({ url }: StartedKernel, tenant: string, principal?: string): KernelClient {
  const subject = { tenant, ...(principal ? { principal } : {}) };
  return createKernelClient({ baseUrl: url, apiKey: adminKey, timeoutMs: patienceMs }).as(subject);
}

/** A client with the service key, which the other services use. */
export function systemOf(baseUrl: string): KernelClient {
  return createClient(kernelRoutes, { baseUrl, headers: () => ({ authorization: `Bearer ${serviceKey}` }) });
}

/** The pool of a kernel. Its type in the context is narrower than what tests need. */
export function poolOf({ context }: StartedKernel): pg.Pool {
  return context.pool as pg.Pool;
}

function environment(databaseUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    GOV_PORT: '0',
    GOV_HEALTH_PORT: '0',
    GOV_ADMIN_API_KEY: adminKey,
    GOV_SERVICE_API_KEY: serviceKey,
    GOV_SIGNING_KEY: generateSigningKey().privateKeyPem,
    GOV_POLICY_KEY: generateSigningKey().privateKeyPem,
    GOV_LOG_KEY: generateSigningKey().privateKeyPem,
    GOV_TENANT_SALT_SECRET: 'test-salt-secret-0123456789abcdef012345678',
    GOV_LOG_LEVEL: 'silent',
    GOV_RATE_LIMITS: '0',
    GOV_MCP_APPROVAL_WAIT: '0',
    GOV_DEMO: '1',
    GOV_SELF_TEST_DECISIONS: '0',
    // Servers run as this account, because others may not read the checkout or the folders of tests.
    GOV_MCP_STDIO_USER: `${process.getuid?.()}:${process.getgid?.()}`,
  };
}

/** Allows reads, model calls and new agents, denies deletions, and requires an approval for payments. */
export const starterPolicy = `
format: countersign/policy.v1
name: test
version: '1'
rules:
  - id: reads
    effect: allow
    match: { action: [tool.call], effect_level: [E0, E1] }
  - id: models
    effect: allow
    match: { action: [model.call] }
  - id: spawns
    effect: allow
    match: { action: [agent.spawn] }
  - id: no-deletion
    effect: deny
    match: { action: [tool.call], tool: ['*.delete'] }
    reason: Deletion is not for agents.
  - id: payments
    effect: escalate
    match: { action: [tool.call], tool: [pay.*] }
    reason: A person confirms payments.
  - id: transfers
    effect: escalate
    match: { action: [money.transfer] }
    reason: A person confirms payments.
tools:
  files.read: { effect_level: E1 }
  files.outage: { effect_level: E1 }
  shared.read: { effect_level: E1 }
`;
