import { startDeadline } from '@countersign/contracts';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deliverSettings } from '../settings/put-settings-through.ts';
import { findConfirmation } from '../store/confirmed-settings.ts';
import { postponeSettings, takeDueSettings, type DueSettings } from '../store/due-settings.ts';
import { getSettings } from '../store/workspaces.ts';

/** The time within which a change reaches the kernel. Each lookup costs one index read. */
const passMs = 500;
/** Few enough that a kernel with a backlog can still serve calls. */
const atOnce = 20;
/** A delivery that takes longer is repeated. */
const deliveryMaxMs = 5_000;
/** Longer than one delivery, so that no two gateways deliver the same settings. */
const retryMs = 10_000;
/** A kernel that was restored from a backup gets its settings back within this time. */
const confirmAgainMs = 3_600_000;

type Courier = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now' | 'log' | 'clockGuard'>;

/**
 * Delivers the settings of all workspaces until the kernel confirms them, without waiting for a run. They also apply to
 * agents that call the kernel without a run.
 */
export function startSettingsCourier(context: Courier): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const courier = repeat({
    run: () => deliverDueSettings(context, stopping.signal),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('settings.pass_failed', { error }),
  });
  return {
    stop: async () => {
      stopping.abort();
      await courier.close();
    },
  };
}

/** Delivers everything that is due, `atOnce` workspaces at a time. */
async function deliverDueSettings(context: Courier, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const due = await context.transaction((tx) => takeDueSettings(tx, { limit: atOnce, retryMs }));
    if (due.length === 0) return;
    await Promise.all(due.map((settings) => deliver(context, settings, stopping)));
  }
}

async function deliver(context: Courier, due: DueSettings, stopping: AbortSignal): Promise<void> {
  const { workspaceId } = due;
  const deadline = startDeadline({ ms: deliveryMaxMs, signal: stopping });
  try {
    const current = await getSettings(context.database.reader, workspaceId);
    if (!(await isConfirmed(context, workspaceId, current.version)))
      await deliverSettings(context, { workspaceId, ...current }, deadline.signal);
    await context.transaction((tx) => postponeSettings(tx, due, confirmAgainMs));
  } catch (error) {
    if (!stopping.aborted) context.log.warn('settings.not_delivered', { workspace_id: workspaceId, error });
  } finally {
    deadline.clear();
  }
}

/** Whether the kernel confirmed this version recently, since a run may have delivered it. */
async function isConfirmed({ database, now }: Courier, workspaceId: string, version: number): Promise<boolean> {
  const confirmation = await findConfirmation(database.reader, workspaceId);
  if (confirmation === null || confirmation.version < version) return false;
  return now().getTime() - confirmation.confirmedAt.getTime() < confirmAgainMs;
}
