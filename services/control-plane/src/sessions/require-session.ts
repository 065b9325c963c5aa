import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { findSession, type StoredSession } from '../store/sessions.ts';
import { isLive } from './session-state.ts';

/**
 * The live session that an assertion names. The gateway checked it a moment ago, but the session may have ended since.
 * Throws CREDENTIALS_INVALID, also for a session of another person.
 */
export async function requireSession(
  { database, now }: Pick<Context, 'database' | 'now'>,
  { userId, sessionId }: PersonCaller,
): Promise<StoredSession> {
  const session = await findSession(database.reader, sessionId);
  if (session !== null && session.userId === userId && isLive(session, now())) return session;
  throw new AppError('CREDENTIALS_INVALID', 'This session has ended. Sign in again');
}
