import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { syncDirectory } from '../directory/sync-directory.ts';

/**
 * Interval of the sync. Events report every change, so the sync only adds data from before the first start of this
 * service.
 */
const passMs = 600_000;

/** Copies the whole directory of organisations at the start and at intervals. */
export function startDirectorySync(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('directory_sync.failed', { error });
  const first = syncDirectory(context).catch(onFailure);
  const passes = repeat({ run: () => syncDirectory(context), intervalMs: passMs, clockGuard, onFailure });
  return {
    stop: async () => {
      await passes.close();
      await first;
    },
  };
}
