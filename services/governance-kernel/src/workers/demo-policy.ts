import { AppError, type Digest, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log } from '@countersign/service-kit';
import { keepActive, type KeepParts } from '../policy/keep-active.ts';

type DemoPolicyParts = KeepParts & { tenant: string; bundle: PolicyBundle; clockGuard: ClockGuard; log: Log };

/** Node fires a timer of more than 2^31 ms at once and without end. */
const intervalMaxMs = 86_400_000;

/**
 * Activates the built-in bundle of the demo tenant, under a new epoch only when it changed, and confirms it from time to time so
 * that it does not become stale. Replicas of two versions do not fight: after the start each confirms only what is its own.
 */
export async function startDemoPolicy(parts: DemoPolicyParts): Promise<{ close(): Promise<void> }> {
  const { tenant, bundle, policies, clockGuard, log, confirmEveryMs } = parts;
  const policyHash = (await policies.compile(bundle)).hash as Digest; // the compiler hashes with digestOf
  const kept = { tenant, bundle, policyHash, by: 'kernel' as PrincipalId }; // within its schema
  await keepActive(parts, { ...kept, replaces: true }).catch((error: unknown) => {
    // Ceilings of all tenants deny the demo; they are no reason to stop everybody else.
    if (!(error instanceof AppError) || error.code !== 'CEILING_MISSING') throw error;
    log.warn('demo_policy.refused', { error });
  });
  const { close } = repeat({
    run: () => keepActive(parts, { ...kept, replaces: false }),
    intervalMs: Math.min(confirmEveryMs, intervalMaxMs),
    clockGuard,
    onFailure: (error) => log.warn('demo_policy.not_confirmed', { error }),
  });
  return { close };
}
