import type { Digest, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { activationBytes } from '../policy/activation.ts';
import type { Policies } from '../policy/policies.ts';

type DemoPolicyParts = {
  tenant: string;
  bundle: PolicyBundle;
  policies: Policies;
  sign(bytes: Uint8Array): Signature;
  log: Log;
  intervalMs: number;
};

/**
 * Activates the built-in bundle of the demo tenant, under a new epoch only when it changed, and confirms it from time to time so
 * that it does not become stale. Replicas of two versions do not fight: after the start each confirms only what is its own.
 */
export async function startDemoPolicy(parts: DemoPolicyParts): Promise<{ close(): void }> {
  const { tenant, bundle, policies, sign, log } = parts;
  const by = 'kernel' as PrincipalId; // within its schema
  const policyHash = policies.compile(bundle).hash as Digest; // compilePolicy hashes with digestOf
  const activate = async (epoch: number) => {
    const signature = sign(activationBytes({ tenant, epoch, policyHash }));
    await policies.activate({ tenant, bundle, epoch, signature, by });
  };
  const active = async () => {
    await policies.reload(tenant);
    return policies.own(tenant);
  };
  const confirm = async () => {
    const current = await active();
    if (current?.hash === policyHash) await activate(current.epoch);
  };
  const first = await active();
  await activate(first === null ? 1 : first.epoch + (first.hash === policyHash ? 0 : 1));
  const timer = setInterval(() => {
    confirm().catch((error: unknown) => log.warn('demo_policy.not_confirmed', { error }));
  }, parts.intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
