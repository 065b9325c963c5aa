import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { insertSession } from '../store/sessions.ts';
import { admitPerson, type ProvenPerson } from './admit-person.ts';
import { newSessionToken, sessionLifetimeMs, sessionTokenHash } from './session-token.ts';

/**
 * Opens a session for a proven person, and creates a workspace the first time. Throws PERMISSION_DENIED when sign-up
 * is restricted.
 */
export async function openSession(
  tx: Tx,
  context: Pick<Context, 'config' | 'newEvent' | 'now' | 'databaseNow'>,
  person: ProvenPerson,
): Promise<SignedIn> {
  const { user } = person;
  const { workspaceId, workspaceName } = await admitPerson(tx, context, person);
  const now = context.now();
  const token = newSessionToken();
  const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
  await insertSession(tx, { userId: user.id, tokenHash: sessionTokenHash(token), createdAt: now, expiresAt });
  return { token, user, workspace: { id: workspaceId, name: workspaceName } };
}
