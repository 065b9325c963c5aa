import { gateOrder } from '@countersign/contracts';
import { assertConnected, assertNoDeadLetters } from '@countersign/messaging';
import { confirmationSkewMaxMs } from '@countersign/policy';
import type { HealthCheck, ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { demoTenant } from './demo/demo-policy.ts';
import { signatureLibrary } from './signers.ts';
import type { SelfTest } from './self-test/self-test.ts';
import { findLastRun } from './store/conformance-store.ts';
import { listFreshHeads } from './store/policy-store.ts';

/**
 * The checks that must pass before a decision can be made and sealed. A kernel that could not do so is alive, but not
 * ready.
 */
export function readinessChecks(kernel: Context): ProbeChecks {
  const { clockGuard, database, keyGuard, signers, selfTest } = kernel;
  return {
    gates: async () => assertAllDenying(selfTest),
    database: () => database.ping(),
    clock: clockGuard.check,
    policy: () => assertFreshPolicy(kernel),
    signer: async () => {
      for (const signer of Object.values(signers)) signer.sign(new Uint8Array(1));
      await keyGuard.assertCounting(['receipts', 'policies', 'log']);
    },
  };
}

/** Each gate was seen to deny its fault when this process started. */
function assertAllDenying({ denying }: SelfTest): void {
  if (!gateOrder.every((gate) => denying.includes(gate))) throw new Error('A gate was not seen to deny');
}

/**
 * The checks that are only reported: without queue or workers decisions are sealed all the same; their events and
 * expired objects wait.
 */
export function toldChecks(
  { bus, reader }: Pick<Context, 'bus' | 'reader'>,
  workers: { check: HealthCheck },
): ProbeChecks {
  return {
    queue: () => assertConnected(bus),
    dead_letters: () => assertNoDeadLetters(bus),
    workers: workers.check,
    conformance: () => assertPassed(reader),
    native_signatures: () => Promise.resolve(signatureLibrary === 'libsodium' ? 'up' : 'none'),
  };
}

/**
 * A failed vector may mean a gate that lets everything pass, or a slow deployment: people decide whether traffic stops.
 */
async function assertPassed(reader: Context['reader']): Promise<'passed' | 'none'> {
  const last = await findLastRun(reader);
  if (last === null) return 'none';
  if (last.verdict !== 'PASS') throw new Error('The last conformance run failed');
  return 'passed';
}

/**
 * A kernel that waits for its first policy is ready to receive it, or behind a load balancer it would wait for ever. A
 * kernel whose policies have all become stale can only deny. The kernel keeps the demo's bundle fresh by itself, so
 * that one says nothing.
 */
async function assertFreshPolicy({
  reader,
  policies,
  confirmations,
  config,
  clock,
}: Context): Promise<'fresh' | 'none'> {
  await policies.reload('*');
  const nowMs = clock().getTime();
  const { fresh, any } = await listFreshHeads(reader, {
    from: new Date(nowMs - config.policyAgeMaxMs),
    to: new Date(nowMs + confirmationSkewMaxMs),
    besides: demoTenant,
  });
  if (!any) return 'none';
  if (!fresh.some((head) => confirmations.isSigned(head))) throw new Error('No active policy is fresh');
  return 'fresh';
}
