import type { SignInId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { introspect, sessionOver } from './introspect.ts';

/** By which sign-in a person is there, and when they last proved it. */
export type Presence = { sessionId: SignInId; provenAt: Date };

type ConsolePerson = Presence & { user: User; csrfToken: string };

/**
 * Who sits at the browser that brought this access cookie (attacker-controlled). Throws CREDENTIALS_INVALID for a session that is over,
 * and CONTROL_PLANE_UNAVAILABLE when nobody can tell.
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
