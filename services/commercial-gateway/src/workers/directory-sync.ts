import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { syncDirectory } from '../directory/sync-directory.ts';

/** Events carry every change, so a pass only finds what was there before this service first started. */
const passMs = 600_000;

/** Copies the whole directory of organisations at the start, and now and then again. */
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
