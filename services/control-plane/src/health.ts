import { startDeadline } from '@countersign/contracts';
import { assertConnected } from '@countersign/messaging';
import type { ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';

type States = Record<'database' | 'queue' | 'gateway', 'ok' | 'unreachable'>;

/** Without the database nobody is signed in; without the gateway nobody signs in anew. */
export function overallStatus({ database, ...others }: States): 'ok' | 'degraded' | 'unavailable' {
  if (database !== 'ok') return 'unavailable';
  return Object.values(others).every((state) => state === 'ok') ? 'ok' : 'degraded';
}

/** What has to work before traffic makes sense. Without the gateway, sessions stay open. By a wrong clock they end too early or too late. */
export function readinessChecks({ database, clockGuard }: Context): ProbeChecks {
  return { database: () => database.ping(), clock: clockGuard.check };
}

/** What is told beside it. */
export function toldChecks(context: Context): ProbeChecks {
  return { queue: () => assertConnected(context.bus), gateway: () => assertGateway(context) };
}

/** Long enough for a busy gateway, short enough for whoever asks us how we are. */
const probeTimeoutMs = 2_000;

/** Throws unless the gateway lives. */
export async function assertGateway({ config, fetchNow }: Context): Promise<void> {
  const answer = await fetchNow(new URL('/health/live', config.gatewayUrl), {
    signal: startDeadline({ ms: probeTimeoutMs }).signal,
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}`);
}
