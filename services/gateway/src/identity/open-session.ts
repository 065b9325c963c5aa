import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { insertSession } from '../store/sessions.ts';
import { admitPerson, type ProvenPerson } from './admit-person.ts';
import { newSessionToken, sessionLifetimeMs, sessionTokenHash } from './session-token.ts';

/** A session for a proven person; the first time it makes a workspace. Throws PERMISSION_DENIED where that is not for everybody. */
export async function openSession(tx: Tx, context: Context, person: ProvenPerson): Promise<SignedIn> {
  const { user } = person;
  const { workspaceId, workspaceName } = await admitPerson(tx, context, person);
  const now = context.now();
  const token = newSessionToken();
  const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
  await insertSession(tx, { userId: user.id, tokenHash: sessionTokenHash(token), createdAt: now, expiresAt });
  return { token, user, workspace: { id: workspaceId, name: workspaceName } };
}
