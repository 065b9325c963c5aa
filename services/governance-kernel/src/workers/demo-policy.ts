import { AppError, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log } from '@countersign/service-kit';
import { keepActive, type KeepDeps } from '../controls/policy/keep-active.ts';

type DemoPolicyDeps = KeepDeps & { tenant: string; bundle: PolicyBundle; clockGuard: ClockGuard; log: Log };

/** The longest timer. Node fires timers of more than 2^31 ms at once and repeatedly. */
const intervalMaxMs = 86_400_000;

/**
 * Activates the built-in bundle of the demo tenant, under a new epoch only when it changed, and confirms it regularly
 * so that it does not become stale. Replicas of two versions do not compete: after the start each confirms only its
 * own bundle.
 */
export async function startDemoPolicy(deps: DemoPolicyDeps): Promise<{ close(): Promise<void> }> {
  const { tenant, bundle, policies, clockGuard, log, confirmEveryMs } = deps;
  const policyHash = (await policies.compile(bundle)).hash;
  const kept = { tenant, bundle, policyHash, by: PrincipalId.parse('kernel') };
  await keepActive(deps, { ...kept, replaces: true }).catch((error: unknown) => {
    // The demo bundle may lack a ceiling of all tenants. The kernel still starts, for the other tenants.
    if (!(error instanceof AppError) || error.code !== 'CEILING_MISSING') throw error;
    log.warn('demo_policy.refused', { error });
  });
  const { close } = repeat({
    run: () => keepActive(deps, { ...kept, replaces: false }),
    intervalMs: Math.min(confirmEveryMs, intervalMaxMs),
    clockGuard,
    onFailure: (error) => log.warn('demo_policy.not_confirmed', { error }),
  });
  return { close };
}
