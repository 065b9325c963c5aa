import type { UserId, WorkspaceId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishAccessEnded } from '../events.ts';
import { endApiKeysOf } from '../store/api-keys.ts';
import type { Tx } from '../store/database.ts';
import { revokeSessionsOf } from '../store/sessions.ts';

type Ending = { userId: UserId; workspaceIds: readonly WorkspaceId[]; now: Date };

/**
 * Ends all access of a person: all sessions, and the API keys in the workspaces of the organisation. The control plane
 * ends the sessions of browsers and programs when it receives the event.
 */
export async function endAccess(
  tx: Tx,
  context: Pick<Context, 'newEvent'>,
  { userId, workspaceIds, now }: Ending,
): Promise<void> {
  await revokeSessionsOf(tx, [userId], { now, reason: 'access_ended' });
  await endApiKeysOf(tx, { userId, workspaceIds }, now);
  await publishAccessEnded(tx, context, [userId], now);
}
