import type { Reader, Tx } from './database.ts';
import { getSettings } from './workspaces.ts';

/** A version of the settings that the kernel has confirmed, and the time of the last confirmation. */
type Confirmation = { version: number; confirmedAt: Date };

/** `null` when the kernel has not confirmed any settings of the workspace. */
export function findConfirmation(reader: Reader, workspaceId: string): Promise<Confirmation | null> {
  return reader.confirmedSettings.findUnique({ where: { workspaceId } });
}

/** The version of the settings that the kernel has confirmed. 0 when there is none. */
export async function findConfirmedVersion(reader: Reader, workspaceId: string): Promise<number> {
  return (await findConfirmation(reader, workspaceId))?.version ?? 0;
}

/** A late confirmation does not undo a newer one. */
export async function recordConfirmation(
  tx: Tx,
  { workspaceId, version }: { workspaceId: string; version: number },
  now: Date,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO confirmed_settings (workspace_id, version, confirmed_at) VALUES (${workspaceId}, ${version}::int, ${now})
    ON CONFLICT (workspace_id) DO UPDATE SET version = excluded.version, confirmed_at = excluded.confirmed_at
     WHERE confirmed_settings.version <= excluded.version`;
}

/**
 * Whether this version is current and confirmed by the kernel. Changes are not answered until the transaction ends, so
 * each step begins either before the answer to a change or under the change.
 */
export async function holdsSettings(
  tx: Tx,
  { workspaceId, version }: { workspaceId: string; version: number },
): Promise<boolean> {
  await tx.$executeRaw`SELECT FROM workspaces WHERE id = ${workspaceId} FOR SHARE`;
  const [current, confirmed] = [await getSettings(tx, workspaceId), await findConfirmedVersion(tx, workspaceId)];
  return current.version === version && confirmed === version;
}
