import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { ToldPlaces } from '../watching/tell-every-workspace.ts';
import { watchCommands } from '../watching/watch-commands.ts';
import { watchDrift } from '../watching/watch-drift.ts';
import { watchHeartbeats } from '../watching/watch-heartbeats.ts';
import { watchReceipts } from '../watching/watch-receipts.ts';

/** Each pass lists the tools of every MCP server: often enough for a prompt report, and no burden for the servers. */
const usualPassMs = 3_000;

/** Opens incidents automatically. Every replica may run it at the same time, since repeated sightings count once. */
export function startWatcher(context: Context, passMs = usualPassMs): { stop(): Promise<void> } {
  const places = new ToldPlaces();
  const watches = {
    commands: () => watchCommands(context),
    heartbeats: () => watchHeartbeats(context, places),
    drift: () => watchDrift(context, places),
    receipts: () => watchReceipts(context),
  };
  const passes = repeat({
    run: () => watchAll(context, watches),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('watch.failed', { error }),
  });
  return { stop: passes.close };
}

/** A watch that fails delays no other. The heartbeat watch reports a service that cannot be reached. */
async function watchAll({ log }: Context, watches: Record<string, () => Promise<void>>): Promise<void> {
  for (const [watch, look] of Object.entries(watches))
    await look().catch((error: unknown) => log.warn('watch.failed', { watch, error }));
}
