import type { IncomingMessage } from 'node:http';
import { isAppError } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { accessCookieOf } from './access-cookie.ts';
import { personOfCookie } from './person-of-cookie.ts';
import { requireSamePage } from './same-page.ts';

/**
 * The person at our page, on a public route. `null` without a cookie, for an ended session, or for a cookie that a page
 * of another site made the browser send. Throws CONTROL_PLANE_UNAVAILABLE when the state of the session is unknown.
 */
export async function personAtPage(
  context: Pick<Context, 'config' | 'consoleSessions' | 'database'>,
  req: IncomingMessage,
): Promise<User | null> {
  const cookie = accessCookieOf(req, context.config);
  if (cookie === null) return null;
  try {
    const { user, csrfToken } = await personOfCookie(context, cookie);
    requireSamePage({ req, method: 'POST', csrfToken });
    return user;
  } catch (error) {
    if (isAppError(error) && (error.code === 'CREDENTIALS_INVALID' || error.code === 'CSRF_TOKEN_INVALID')) return null;
    throw error;
  }
}
