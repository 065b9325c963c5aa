import { assertConnected } from '@countersign/messaging';
import type { ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { assertGateway } from './siblings/assert-gateway.ts';

type States = Record<'database' | 'queue' | 'gateway', 'ok' | 'unreachable'>;

/** Without the database no session is valid; without the gateway no sign-in is possible. */
export function overallStatus({ database, ...others }: States): 'ok' | 'degraded' | 'unavailable' {
  if (database !== 'ok') return 'unavailable';
  return Object.values(others).every((state) => state === 'ok') ? 'ok' : 'degraded';
}

/**
 * The checks that must pass before this service gets traffic. The gateway is not checked, since open sessions work
 * without it. With a wrong clock, sessions end too early or too late.
 */
export function readinessChecks({ database, clockGuard }: Context): ProbeChecks {
  return { database: () => database.ping(), clock: clockGuard.check };
}

/** The checks that are only reported. */
export function toldChecks(context: Context): ProbeChecks {
  return { queue: () => assertConnected(context.bus), gateway: () => assertGateway(context) };
}
