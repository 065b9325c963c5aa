import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { placeWorkspace } from '../orgs/place-workspace.ts';
import { listUnplaced } from '../store/orgs.ts';

const passMs = 60_000;
/** Few of them are ever left; many mean that the kernel is away, and then the next pass is soon enough. */
const placedPerPass = 100;

/** Tells the kernel of workspaces whose request died before it did. */
export function startPlacer(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => placeAll(context),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('placing.failed', { error }),
  });
  return { stop: passes.close };
}

async function placeAll(context: Context): Promise<void> {
  for (const owned of await listUnplaced(context.database.reader, placedPerPass)) await placeWorkspace(context, owned);
}
