import type { Reachability } from '@countersign/contracts/gateway';
import type { HealthCheck } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { probeGovernance } from './governance/probe.ts';

export type HealthStates = { database: Reachability; queue: Reachability; governance: Reachability };

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

export function healthChecks(context: Context): { database: HealthCheck; queue: HealthCheck } {
  return {
    database: () => context.database.ping(),
    queue: async () => {
      if (!context.bus.status().connected) throw new Error('The queue is not connected.');
    },
  };
}

/** What has to work before traffic makes sense: the queue is not part of it, because work is accepted without it. */
export function readinessChecks(context: Context): Record<string, HealthCheck> {
  const { database } = healthChecks(context);
  if (!context.config.failClosed) return { database };
  return {
    database,
    governance: async () => {
      if ((await probeGovernance(context)).state !== 'ok') throw new Error('The kernel does not answer.');
    },
  };
}
