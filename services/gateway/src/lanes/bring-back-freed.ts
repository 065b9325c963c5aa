import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { freeRuns } from '../store/due-runs.ts';

/** Creates jobs for runs that waited for a free place in their workspace. */
export async function bringBackFreed(
  context: Pick<Context, 'config' | 'newEvent' | 'databaseNow' | 'transaction'>,
): Promise<void> {
  await context.transaction(async (tx) => {
    for (const run of await freeRuns(tx, context.config.runs.perWorkspaceMax))
      await publishRunEnqueued(tx, context, run);
  });
}
