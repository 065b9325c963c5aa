import type { Reader, Tx } from './database.ts';
import { getSettings } from './workspaces.ts';

/** A version of the settings that the kernel has confirmed, and when it did so last. */
type Confirmation = { version: number; confirmedAt: Date };

/** `null` when the kernel has not confirmed any settings of the workspace. */
export function findConfirmation(reader: Reader, workspaceId: string): Promise<Confirmation | null> {
  return reader.confirmedSettings.findUnique({ where: { workspaceId } });
}

/** Which version of the settings the kernel has said that it holds to; 0 for none. */
export async function findConfirmedVersion(reader: Reader, workspaceId: string): Promise<number> {
  return (await findConfirmation(reader, workspaceId))?.version ?? 0;
}

/** A confirmation that comes late does not undo a later one. */
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
 * True while this version is the current one and the kernel holds to it; no change is answered until the transaction
 * ends. Each step is therefore begun either before a change was answered or under it.
 */
export async function holdsSettings(
  tx: Tx,
  { workspaceId, version }: { workspaceId: string; version: number },
): Promise<boolean> {
  await tx.$executeRaw`SELECT FROM workspaces WHERE id = ${workspaceId} FOR SHARE`;
  const [current, confirmed] = [await getSettings(tx, workspaceId), await findConfirmedVersion(tx, workspaceId)];
  return current.version === version && confirmed === version;
}
