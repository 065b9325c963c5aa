import { gateOrder } from '@countersign/contracts';
import { assertConnected, assertNoDeadLetters } from '@countersign/messaging';
import { confirmationSkewMaxMs } from '@countersign/policy';
import type { HealthCheck, ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { demoTenant } from './doors/demo/demo-policy.ts';
import { signatureLibrary } from './signers.ts';
import type { SelfTest } from './decision/self-test/self-test.ts';
import { findLastRun } from './store/conformance-store.ts';
import { listFreshHeads } from './store/policy-store.ts';

/**
 * The checks that must pass before a decision can be made and sealed. A kernel that fails them is alive, but not
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

/** Throws unless every gate denied its fault in the self-test of this process. */
function assertAllDenying({ denying }: SelfTest): void {
  if (!gateOrder.every((gate) => denying.includes(gate))) throw new Error('A gate did not deny in the self-test');
}

type ToldContext = Pick<Context, 'bus' | 'reader' | 'witnessContradictions'> & {
  config: Pick<Context['config'], 'witnesses'>;
};

/**
 * The checks that are only reported. Without queue or workers decisions are still sealed, and only their events and
 * expired objects wait.
 */
export function toldChecks(
  { bus, reader, config, witnessContradictions }: ToldContext,
  workers: { check: HealthCheck },
): ProbeChecks {
  return {
    queue: () => assertConnected(bus),
    dead_letters: () => assertNoDeadLetters(bus),
    workers: workers.check,
    conformance: () => assertPassed(reader),
    witnesses: async () => {
      assertUncontradicted(witnessContradictions);
      return config.witnesses.length === 0 ? 'none' : 'up';
    },
    native_signatures: () => Promise.resolve(signatureLibrary === 'libsodium' ? 'up' : 'none'),
  };
}

/**
 * If a witness contradicts the log, receipts are lost. New decisions are not affected, so people decide what follows.
 */
function assertUncontradicted(contradictions: Context['witnessContradictions']): void {
  const [first] = contradictions.list();
  if (first !== undefined) throw new Error(`${first.witness}: ${first.problem}`);
}

/**
 * A failed vector may mean a gate that permits everything, or a slow deployment, so people decide whether traffic
 * stops.
 */
async function assertPassed(reader: Context['reader']): Promise<'passed' | 'none'> {
  const last = await findLastRun(reader);
  if (last === null) return 'none';
  if (last.verdict !== 'PASS') throw new Error('The last conformance run failed');
  return 'passed';
}

/**
 * A kernel without a policy is ready, since it could not receive its first policy behind a load balancer otherwise. A
 * kernel whose policies have all become stale can only deny. The kernel itself confirms the demo's bundle, so this
 * bundle does not count.
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
