import { assertConnected } from '@countersign/messaging';
import { runChecks, type ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';

/** Billing periods and licences end by the clock, so a wrong clock makes the service unready. */
export function readinessChecks({ database, clockGuard }: Pick<Context, 'database' | 'clockGuard'>): ProbeChecks {
  return { database: () => database.ping(), clock: clockGuard.check };
}

/** The checks that are only reported. The service works without the queue, because events wait in the outbox. */
export function toldChecks({ bus }: Pick<Context, 'bus'>): ProbeChecks {
  return { queue: () => assertConnected(bus) };
}

/** Returns the status of the service. The database is required. The queue is not. */
export async function healthOf({ database, bus }: Pick<Context, 'database' | 'bus'>) {
  const { checks } = await runChecks({ database: () => database.ping(), queue: () => assertConnected(bus) });
  const stateOf = (name: 'database' | 'queue') => (checks[name] === 'up' ? ('ok' as const) : ('unreachable' as const));
  const states = { database: stateOf('database'), queue: stateOf('queue') };
  const working = states.queue === 'ok' ? ('ok' as const) : ('degraded' as const);
  return { status: states.database === 'ok' ? working : ('unavailable' as const), checks: states };
}
