import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { requireOwnPage } from './same-origin.ts';
import type { ApproverSession, ApproverSessions } from './sessions.ts';

type Form = Parameters<ApproverSessions['requireForm']>[1];

/** The person who sent a form from a page of their session. Throws CREDENTIALS_INVALID and PERMISSION_DENIED. */
export async function requireSession(
  sessions: ApproverSessions,
  req: IncomingMessage,
  { form, token }: { form: Form; token: string },
): Promise<ApproverSession> {
  requireOwnPage(req);
  const session = await sessions.find(req.headers.cookie);
  if (session === null) throw new AppError('CREDENTIALS_INVALID', 'Your session has ended. Sign in again');
  sessions.requireForm(session, form, token);
  return session;
}
