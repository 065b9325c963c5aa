import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { placeWorkspace } from '../orgs/place-workspace.ts';
import { listUnplaced } from '../store/orgs.ts';

const passMs = 60_000;
/**
 * Few workspaces ever remain unsent. If many do, the kernel was unavailable, and the others can wait for the next pass.
 */
const placedPerPass = 100;

/** Sends the organisations of workspaces to the kernel when the request that should have sent them died. */
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
