import { startDeadline } from '@countersign/contracts';
import { assertConnected } from '@countersign/messaging';
import type { ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';

type States = Record<'database' | 'queue' | 'gateway', 'ok' | 'unreachable'>;

/** Without the database no session is valid; without the gateway no sign-in is possible. */
export function overallStatus({ database, ...others }: States): 'ok' | 'degraded' | 'unavailable' {
  if (database !== 'ok') return 'unavailable';
  return Object.values(others).every((state) => state === 'ok') ? 'ok' : 'degraded';
}

/**
 * The checks that must pass before traffic makes sense. Without the gateway, sessions stay open. With a wrong clock
 * they end too early or too late.
 */
export function readinessChecks({ database, clockGuard }: Context): ProbeChecks {
  return { database: () => database.ping(), clock: clockGuard.check };
}

/** The checks that are only reported. */
export function toldChecks(context: Context): ProbeChecks {
  return { queue: () => assertConnected(context.bus), gateway: () => assertGateway(context) };
}

/** Long enough for a busy gateway, short enough for the caller of our own probe. */
const probeTimeoutMs = 2_000;

/** Throws unless the gateway lives. */
export async function assertGateway({ config, fetchNow }: Context): Promise<void> {
  const answer = await fetchNow(new URL('/health/live', config.gatewayUrl), {
    signal: startDeadline({ ms: probeTimeoutMs }).signal,
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}`);
}
