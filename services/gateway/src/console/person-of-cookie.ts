import { AppError, type SignInId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { findUser } from '../store/users.ts';

type ConsolePerson = { user: User; sessionId: SignInId; csrfToken: string };

/**
 * Who sits at the browser that brought this access cookie (attacker-controlled). Throws CREDENTIALS_INVALID for a session that is over,
 * and CONTROL_PLANE_UNAVAILABLE when nobody can tell.
 */
export async function personOfCookie(
  { consoleSessions, database }: Pick<Context, 'consoleSessions' | 'database'>,
  cookie: string,
): Promise<ConsolePerson> {
  if (consoleSessions === null) throw new AppError('CREDENTIALS_INVALID', 'No control plane is configured');
  const { body } = await consoleSessions.introspectSession({ body: { token: cookie } }).catch((cause: unknown) => {
    throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer', { cause });
  });
  const user = body.active ? await findUser(database.reader, body.sub) : null;
  if (!body.active || user === null)
    throw new AppError('CREDENTIALS_INVALID', 'This session is over: renew it, or sign in again');
  return { user, sessionId: body.sid, csrfToken: body.csrf_token };
}
