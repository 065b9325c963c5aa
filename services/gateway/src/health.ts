import type { Reachability } from '@countersign/contracts/gateway';
import { assertConnected, assertNoDeadLetters } from '@countersign/messaging';
import type { HealthCheck } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { assertGovernanceReady, probeGovernance } from './governance/probe.ts';

type HealthStates = { database: Reachability; queue: Reachability; governance: Reachability };

/**
 * Without the database nothing can be done; without a governance that is mandatory nothing may be done. Without the queue work
 * is accepted and waits.
 */
export function overallStatus(checks: HealthStates, governanceRequired: boolean): 'ok' | 'degraded' | 'unavailable' {
  if (checks.database !== 'ok') return 'unavailable';
  if (governanceRequired && checks.governance !== 'ok') return 'unavailable';
  const isWhole = checks.queue === 'ok' && checks.governance !== 'unreachable';
  return isWhole ? 'ok' : 'degraded';
}

/** What has to work before traffic makes sense: the queue is not part of it, because work is accepted without it. */
export function readinessChecks(context: Context): Record<string, HealthCheck> {
  const database = () => context.database.ping();
  if (!context.config.failClosed) return { database };
  return {
    database,
    governance: async () => {
      if ((await probeGovernance(context)).state !== 'ok') throw new Error('The kernel does not answer.');
    },
  };
}

/** What is told beside it. Of a kernel that lives and cannot decide, such as one without a fresh policy, the rest of the work goes on. */
export function toldChecks(context: Context, workers: { check: HealthCheck }): Record<string, HealthCheck> {
  const { bus } = context;
  const deadLetters = () => assertNoDeadLetters(bus);
  return {
    queue: () => assertConnected(bus),
    dead_letters: deadLetters,
    kernel: () => assertGovernanceReady(context),
    workers: workers.check,
  };
}
