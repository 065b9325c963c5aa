import type { Context } from '../context.ts';
import { KernelError, SettingsRefused } from '../governance/kernel-error.ts';
import { findConfirmedVersion, recordConfirmation } from '../store/confirmed-settings.ts';
import { getSettings, raiseSettingsFloor, type VersionedSettings } from '../store/workspaces.ts';
import { notConfigured } from './submit-step.ts';
import type { LoadedRun } from './load-run.ts';

type Deliverer = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;
type OfWorkspace = { workspaceId: string };

/**
 * Makes the kernel hold to the settings that a run, or a call from outside, was loaded with, unless it has said so before. Throws KernelError; then nothing
 * may be begun. Several workers may do it at once: the kernel takes versions in their order alone.
 */
export async function putSettingsThrough(
  context: Deliverer,
  { workspaceId }: OfWorkspace,
  { settings, settingsVersion: version }: Pick<LoadedRun, 'settings' | 'settingsVersion'>,
  signal: AbortSignal,
): Promise<void> {
  if (context.kernel === null) throw notConfigured;
  if ((await findConfirmedVersion(context.database.reader, workspaceId)) >= version) return;
  await deliverSettings(context, { workspaceId, settings, version }, signal);
}

/** The same, also where the kernel has confirmed these settings before. */
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
    // Another worker was ahead with later settings: the worker of the next step finds that out, and loads them.
    if (isPast && (await getSettings(database.reader, workspaceId)).version > version) return;
    if (error instanceof SettingsRefused)
      await transaction((tx) => raiseSettingsFloor(tx, { workspaceId, version: error.standingVersion }));
    throw error;
  }
  await transaction((tx) => recordConfirmation(tx, { workspaceId, version }, now()));
}
