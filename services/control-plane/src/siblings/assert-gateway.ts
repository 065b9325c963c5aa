import { startDeadline } from '@countersign/contracts';
import type { Context } from '../context.ts';

/** Long enough for a busy gateway, and short enough that this service answers its own health probe in time. */
const probeTimeoutMs = 2_000;

/** Throws unless the gateway is alive. */
export async function assertGateway({ config, fetchNow }: Pick<Context, 'config' | 'fetchNow'>): Promise<void> {
  const answer = await fetchNow(new URL('/health/live', config.gatewayUrl), {
    signal: startDeadline({ ms: probeTimeoutMs }).signal,
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}`);
}
