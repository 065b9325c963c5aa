import { AppError, type WorkspaceId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { getSettings } from '../store/workspaces.ts';
import { putSettingsThrough } from './put-settings-through.ts';

type Holding = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Ensures that the blocked tools and the spend limit of a workspace apply to its people, its keys and the keys of its
 * agents, and not only to its runs. Throws GOVERNANCE_UNAVAILABLE.
 */
export async function holdToSettings(context: Holding, workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
  const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
  await putSettingsThrough(context, { workspaceId }, { settings, settingsVersion }, signal).catch((cause: unknown) => {
    if (!(cause instanceof KernelError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel has not applied the settings of the workspace yet', {
      cause,
    });
  });
}
