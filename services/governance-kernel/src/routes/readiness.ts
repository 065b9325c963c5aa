import type { HealthCheck } from '@countersign/service-kit';
import type { Kernel } from '../context.ts';
import { demoTenant } from '../demo/demo-policy.ts';
import { findLastConfirmation } from '../store/policy-store.ts';

/** What has to work before a decision can be made and sealed. A kernel that could not do so is alive, but not ready. */
export function readinessChecks(kernel: Kernel): Record<string, HealthCheck> {
  const { database, signer } = kernel;
  return {
    database: () => database.ping(),
    policy: () => assertFreshPolicy(kernel),
    signer: async () => signer.sign(new Uint8Array(1)),
  };
}

/** What is told beside them: without the queue decisions are sealed all the same, and their events wait in the outbox. */
export function toldChecks({ bus }: Kernel): Record<string, HealthCheck> {
  return {
    queue: async () => {
      if (!bus.status().connected) throw new Error('The queue is not connected');
    },
  };
}

/**
 * A kernel that waits for its first policy is ready to be given it, or behind a load balancer it would wait for ever; one whose
 * policies have all become stale can only deny. The kernel keeps the demo's bundle fresh by itself, so that one says nothing.
 */
async function assertFreshPolicy({ pool, policies, config, clock }: Kernel): Promise<void> {
  await policies.reload('*');
  const confirmedAt = await findLastConfirmation(pool, { besides: demoTenant });
  if (confirmedAt === null) return;
  if (clock().getTime() - confirmedAt.getTime() > config.GOV_POLICY_MAX_AGE)
    throw new Error('No active policy is fresh');
}
