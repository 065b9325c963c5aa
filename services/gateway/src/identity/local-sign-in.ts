import type { Context } from '../context.ts';
import { issueCode } from './issue-code.ts';

/** The body that `POST /api/auth/email/verify` accepts, once and within ten minutes. */
type LocalSignIn = { email: string; code: string };

/** A one-time sign-in for the person at the terminal of the embedded profile, who needs no mail. */
export async function issueLocalSignIn(
  context: Pick<Context, 'config' | 'now' | 'transaction'>,
  email: string,
): Promise<LocalSignIn> {
  const address = email.trim().toLowerCase();
  return { email: address, code: await issueCode(context, { email: address, inviteId: null }) };
}
