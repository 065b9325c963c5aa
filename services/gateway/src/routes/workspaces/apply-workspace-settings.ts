import { AppError } from '@countersign/contracts';
import { applyWorkspaceSettings } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { KernelError } from '../../governance/kernel-error.ts';
import { handleWorkspace } from '../../handle.ts';
import { putSettingsThrough } from '../../settings/put-settings-through.ts';
import { getSettings } from '../../store/workspaces.ts';

/**
 * Delivers the settings to the kernel, as the first governed call would. The person who sets up a workspace can then
 * see the budget before that call.
 */
export const applyWorkspaceSettingsRoute = (context: Context) =>
  handleWorkspace(applyWorkspaceSettings)(async ({ caller: { workspaceId }, signal }) => {
    const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
    try {
      await putSettingsThrough(context, { workspaceId }, { settings, settingsVersion }, signal);
    } catch (cause) {
      if (!(cause instanceof KernelError)) throw cause;
      throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel has not applied the settings', { cause });
    }
    return { ok: true as const };
  });
