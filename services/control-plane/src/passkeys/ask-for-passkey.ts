import { challengeSignIn } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { insertLogin, type NewLogin } from '../store/logins.ts';

/**
 * Requests any passkey from the kernel, for an unknown person at the browser or for the person of a session. It names
 * none, so that it does not reveal whose passkeys exist. Throws PASSKEYS_UNAVAILABLE, GOVERNANCE_UNAVAILABLE.
 */
export async function askForPasskey(context: Context, whose: Pick<NewLogin, 'userId' | 'sessionId'>) {
  const { kernel } = context;
  const asked = await answerOf('kernel', () => kernel.own({ challengeSignIn }).challengeSignIn());
  const { statement, options, expires_at } = asked;
  const loginId = newLoginId();
  const times = { createdAt: context.now(), expiresAt: new Date(expires_at) };
  const login = { ...whose, ...times, email: null, oidc: null, statement, idHash: hashOf(loginId) };
  await context.transaction((tx) => insertLogin(tx, login));
  return { login_id: loginId, method: 'passkey' as const, expires_at, options };
}
