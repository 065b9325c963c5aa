import { startDeadline } from '@countersign/contracts';
import { healthz } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { assertGateway } from '../siblings/assert-gateway.ts';
import { noteHeard, noteMissed, type WatchedService } from '../store/heartbeats.ts';
import type { Seen } from './report-sighting.ts';
import { tellEveryWorkspace, type ToldPlaces } from './tell-every-workspace.ts';

type Deps = Pick<Context, 'config' | 'database' | 'newEvent' | 'kernel' | 'fetchNow' | 'now' | 'transaction'>;

/** Longer than a service needs to start again. */
const silenceMaxMs = 60_000;
/** The duration of several passes. If no probe ran for longer, the watcher itself was paused. */
const asleepMs = 30_000;
const probeMs = 5_000;

/**
 * Reports a service that has answered no probe for a minute, as one incident whose recurrence rises with each silence.
 */
export async function watchHeartbeats(context: Deps, places: ToldPlaces): Promise<void> {
  const probes: Record<WatchedService, () => Promise<unknown>> = {
    kernel: () => context.kernel.own({ healthz }).healthz({ signal: startDeadline({ ms: probeMs }).signal }),
    gateway: () => assertGateway(context),
  };
  for (const service of ['kernel', 'gateway'] as const) {
    const isHeard = await probes[service]().then(
      () => true,
      () => false,
    );
    const since = await noteBeat(context, service, { isHeard });
    if (since !== null) await tellEveryWorkspace(context, places, silenceOf(service, since));
  }
}

/** Returns the start of a silence once it is too long. */
export async function noteBeat(
  { transaction, now }: Pick<Context, 'transaction' | 'now'>,
  service: WatchedService,
  { isHeard }: { isHeard: boolean },
): Promise<Date | null> {
  const at = now();
  return await transaction(async (tx) => {
    if (isHeard) {
      await noteHeard(tx, service, at);
      return null;
    }
    const since = await noteMissed(tx, service, { now: at, awakeSince: new Date(at.getTime() - asleepMs) });
    return at.getTime() - since.getTime() >= silenceMaxMs ? since : null;
  });
}

function silenceOf(service: WatchedService, since: Date): Seen {
  return {
    title: `The ${service} does not answer`,
    ...{ severity: 'high', category: 'heartbeat', receipts: [] },
    note: `It has not answered since ${since.toISOString()}.`,
    dedupKey: `heartbeat:${service}`,
    sighting: since.toISOString(),
  };
}
