import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { findConfirmedVersion, recordConfirmation } from '../store/confirmed-settings.ts';
import type { Lease } from '../store/leases.ts';
import { getSettings } from '../store/workspaces.ts';
import { notConfigured } from './submit-step.ts';
import type { LoadedRun } from './load-run.ts';

/**
 * Makes the kernel hold to the settings that a run, or a call from outside, was loaded with, unless it has said so before. Throws KernelError; then nothing
 * may be begun. Several workers may do it at once: the kernel takes versions in their order alone.
 */
export async function putSettingsThrough(
  { kernel, database, transaction, now }: Context,
  { workspaceId }: Pick<Lease, 'workspaceId'>,
  { settings, settingsVersion: version }: Pick<LoadedRun, 'settings' | 'settingsVersion'>,
  signal: AbortSignal,
): Promise<void> {
  if (kernel === null) throw notConfigured;
  if ((await findConfirmedVersion(database.reader, workspaceId)) >= version) return;
  try {
    await kernel.applySettings({ workspaceId, version, settings }, signal);
  } catch (error) {
    const isPast = error instanceof KernelError && error.code === 'SETTINGS_REFUSED';
    // Another worker was ahead with later settings: whoever begins a step finds that out, and loads them.
    if (isPast && (await getSettings(database.reader, workspaceId)).version > version) return;
    throw error;
  }
  await transaction((tx) => recordConfirmation(tx, { workspaceId, version }, now()));
}
