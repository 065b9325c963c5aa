import { assertConnected } from '@countersign/messaging';
import type { ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';

/** Billing periods and licences end by the clock, so a wrong clock makes the service unready. */
export function readinessChecks({ database, clockGuard }: Pick<Context, 'database' | 'clockGuard'>): ProbeChecks {
  return { database: () => database.ping(), clock: clockGuard.check };
}

/** Without the queue, events wait in the outbox. */
export function toldChecks({ bus }: Pick<Context, 'bus'>): ProbeChecks {
  return { queue: () => assertConnected(bus) };
}
