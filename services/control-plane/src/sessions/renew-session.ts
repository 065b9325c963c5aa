import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { extendSession, lockRefreshToken, spendRefreshToken, type StoredSession } from '../store/sessions.ts';
import type { Tokens } from './cookies.ts';
import { endSignIn } from './end-sign-in.ts';
import { sessionLifetimeMs } from './lifetimes.ts';
import { issueTokens } from './open-session.ts';
import { holderOf, renewalBy } from './session-state.ts';
import { hashOf, looksLikeToken, type Holder } from './tokens.ts';

type Renewing = {
  token: string;
  holder: Holder;
  /** The client id that the program states. Absent for a browser. */
  client?: string;
  requestId: string;
};
/** `tokens` is `null` when another request of the same holder renewed the session a moment ago. */
type Renewed = { session: StoredSession; expiresAt: Date; tokens: Tokens | null };

/**
 * Renews the session of a refresh token (attacker-controlled). Throws CREDENTIALS_INVALID. A token that is used again
 * after `renewalOverlapMs` ends its session, since one of its two holders is a thief.
 */
export async function renewSession(
  context: Pick<Context, 'log' | 'newEvent' | 'now' | 'transaction'>,
  { token, holder, client, requestId }: Renewing,
): Promise<Renewed> {
  if (!looksLikeToken(holder, 'refresh', token)) throw refused();
  const now = context.now();
  const renewed = await context.transaction(async (tx): Promise<Renewed | 'reused' | 'over'> => {
    const found = await lockRefreshToken(tx, hashOf(token));
    if (found === null) return 'over';
    const { session } = found;
    if (holderOf(session) !== holder || (client !== undefined && client !== session.client)) return 'over';
    const renewal = renewalBy(found, now);
    switch (renewal) {
      case 'renew': {
        await spendRefreshToken(tx, found, now);
        const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
        await extendSession(tx, session, expiresAt);
        return { session, expiresAt, tokens: await issueTokens(tx, session, now) };
      }
      case 'just_renewed':
        return { session, expiresAt: session.expiresAt, tokens: null };
      case 'reused':
        // The end is committed before the refusal is thrown, since the thief must lose the session.
        await endSignIn(tx, context, session, { reason: 'refresh_reused', requestId });
        return 'reused';
      case 'over':
        return 'over';
      default:
        return renewal satisfies never;
    }
  });
  if (renewed === 'reused') context.log.warn('session.refresh_reused');
  if (typeof renewed === 'string') throw refused();
  return renewed;
}

function refused(): AppError {
  return new AppError('CREDENTIALS_INVALID', 'This session has ended. Sign in again');
}
