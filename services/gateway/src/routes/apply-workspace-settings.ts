import { AppError } from '@countersign/contracts';
import { applyWorkspaceSettings } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { handleWorkspace } from '../handle.ts';
import { putSettingsThrough } from '../orchestrator/put-settings-through.ts';
import { getSettings } from '../store/workspaces.ts';

/** Whatever is called first puts them through as well; who sets up a workspace wants to see its budget before that. */
export const applyWorkspaceSettingsRoute = (context: Context) =>
  handleWorkspace(applyWorkspaceSettings)(async ({ caller: { workspaceId }, signal }) => {
    const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
    try {
      await putSettingsThrough(context, { workspaceId }, { settings, settingsVersion }, signal);
    } catch (cause) {
      if (!(cause instanceof KernelError)) throw cause;
      throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel did not take the settings', { cause });
    }
    return { ok: true as const };
  });
