import { challengeSignIn } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { insertLogin, type NewLogin } from '../store/logins.ts';

/**
 * Begins a login that any passkey can complete, for an unknown person at the browser or for the person of a session.
 * The challenge of the kernel lists no passkeys, so that it does not reveal whose passkeys exist. Throws
 * PASSKEYS_UNAVAILABLE, GOVERNANCE_UNAVAILABLE.
 */
export async function askForPasskey(
  context: Pick<Context, 'kernel' | 'now' | 'transaction'>,
  whose: Pick<NewLogin, 'userId' | 'sessionId'>,
) {
  const { kernel } = context;
  const client = await answerOf('kernel', () => kernel.own({ challengeSignIn }).challengeSignIn());
  const { statement, options, expires_at } = client;
  const loginId = newLoginId();
  const times = { createdAt: context.now(), expiresAt: new Date(expires_at) };
  const login = { ...whose, ...times, email: null, oidc: null, statement, idHash: hashOf(loginId) };
  await context.transaction((tx) => insertLogin(tx, login));
  return { login_id: loginId, method: 'passkey' as const, expires_at, options };
}
