import { AppError } from '@countersign/contracts';
import type { introspectSession } from '@countersign/contracts/control-plane';
import type { User } from '@countersign/contracts/gateway';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { findUser } from '../store/users.ts';

type Live = Extract<z.infer<(typeof introspectSession)['reply']>, { active: true }>;

/**
 * The session and person of a token (attacker-controlled). Throws CREDENTIALS_INVALID for an ended session and when no
 * control plane is configured. Throws CONTROL_PLANE_UNAVAILABLE when the state of the session is unknown.
 */
export async function introspect(
  { consoleSessions, database }: Pick<Context, 'consoleSessions' | 'database'>,
  token: string,
): Promise<{ user: User; session: Live }> {
  if (consoleSessions === null)
    throw new AppError('CREDENTIALS_INVALID', 'This gateway has no control plane. Ask its operator');
  const { body: session } = await consoleSessions.introspectSession({ body: { token } }).catch((cause: unknown) => {
    throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer', { cause });
  });
  const user = session.active ? await findUser(database.reader, session.sub) : null;
  if (!session.active || user === null) throw sessionOver();
  return { user, session };
}

export function sessionOver(): AppError {
  return new AppError('CREDENTIALS_INVALID', 'This session has ended. Renew it, or sign in again');
}
