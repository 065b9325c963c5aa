import { HandleId } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { knownId } from '../siblings/known-id.ts';
import { findHandle, type StoredHandle } from '../store/evidence-handles.ts';

/** A live handle of the caller's workspace. Throws NOT_FOUND. */
export async function getHandle(
  { database, now }: Pick<Context, 'database' | 'now'>,
  text: string,
  { workspaceId }: Pick<WorkspaceCaller, 'workspaceId'>,
): Promise<StoredHandle> {
  const id = knownId(HandleId, text);
  const found = await findHandle(database.reader, { id, workspaceId, now: now() });
  if (found === null) throw notFound();
  return found;
}
