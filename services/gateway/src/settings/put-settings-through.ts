import type { Context } from '../context.ts';
import { KernelError, notConfigured, SettingsRefused } from '../governance/kernel-error.ts';
import { findConfirmedVersion, recordConfirmation } from '../store/confirmed-settings.ts';
import { getSettings, raiseSettingsFloor, type VersionedSettings } from '../store/workspaces.ts';

type Deliverer = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;
type LoadedSettings = Pick<VersionedSettings, 'settings'> & { settingsVersion: number };
type OfWorkspace = { workspaceId: string };

/**
 * Ensures that the kernel confirmed the settings that a run or an external call was loaded with. Throws KernelError,
 * and nothing may be begun then. Several workers may call it at once, since the kernel accepts only rising versions.
 */
export async function putSettingsThrough(
  context: Deliverer,
  { workspaceId }: OfWorkspace,
  { settings, settingsVersion: version }: LoadedSettings,
  signal: AbortSignal,
): Promise<void> {
  if (context.kernel === null) throw notConfigured;
  if ((await findConfirmedVersion(context.database.reader, workspaceId)) >= version) return;
  await deliverSettings(context, { workspaceId, settings, version }, signal);
}

/** Delivers the settings even if the kernel has confirmed them before. */
export async function deliverSettings(
  { kernel, database, transaction, now }: Deliverer,
  { workspaceId, settings, version }: OfWorkspace & VersionedSettings,
  signal: AbortSignal,
): Promise<void> {
  if (kernel === null) throw notConfigured;
  const isFirst = (await findConfirmedVersion(database.reader, workspaceId)) === 0;
  try {
    await kernel.applySettings({ workspaceId, version, settings, isFirst }, signal);
  } catch (error) {
    const isPast = error instanceof KernelError && error.code === 'SETTINGS_REFUSED';
    // Another worker delivered later settings. The worker of the next step detects that and loads them.
    if (isPast && (await getSettings(database.reader, workspaceId)).version > version) return;
    if (error instanceof SettingsRefused)
      await transaction((tx) => raiseSettingsFloor(tx, { workspaceId, version: error.standingVersion }));
    throw error;
  }
  await transaction((tx) => recordConfirmation(tx, { workspaceId, version }, now()));
}
