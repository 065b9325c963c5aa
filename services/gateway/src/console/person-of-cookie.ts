import type { SignInId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { introspect, sessionOver } from './introspect.ts';

/** The sign-in of a person, and the time of their last proof of presence. */
export type Presence = { sessionId: SignInId; provenAt: Date };

type ConsolePerson = Presence & { user: User; csrfToken: string };

/**
 * The person whose browser sent this access cookie (attacker-controlled). Throws CREDENTIALS_INVALID for an ended
 * session, and CONTROL_PLANE_UNAVAILABLE when its state is unknown.
 */
export async function personOfCookie(
  context: Pick<Context, 'consoleSessions' | 'database'>,
  cookie: string,
): Promise<ConsolePerson> {
  const { user, session } = await introspect(context, cookie);
  if (session.kind !== 'browser') throw sessionOver();
  const { sid: sessionId, proven_at, csrf_token: csrfToken } = session;
  return { user, sessionId, provenAt: new Date(proven_at), csrfToken };
}
