import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishSessionEnded } from '../events.ts';
import { endSession, extendSession, lockRefreshToken, spendRefreshToken } from '../store/sessions.ts';
import type { Tokens } from './cookies.ts';
import { sessionLifetimeMs } from './lifetimes.ts';
import { issueTokens } from './open-session.ts';
import { renewalBy } from './session-state.ts';
import { hashOf, looksLikeToken } from './tokens.ts';

type Renewed = { expiresAt: Date; tokens: Tokens | null };

/**
 * Renews the session of a refresh token (attacker-controlled). Throws CREDENTIALS_INVALID; a token that was spent longer ago than two
 * tabs can be apart ends its session, since one of the two who hold it is a thief.
 */
export async function renewSession(context: Context, token: string): Promise<Renewed> {
  if (!looksLikeToken('refresh', token)) throw refused();
  const now = context.now();
  const renewed = await context.transaction(async (tx): Promise<Renewed | 'reused' | 'over'> => {
    const found = await lockRefreshToken(tx, hashOf(token));
    if (found === null) return 'over';
    const { session } = found;
    const renewal = renewalBy(found, now);
    switch (renewal) {
      case 'renew': {
        await spendRefreshToken(tx, found, now);
        const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
        await extendSession(tx, session, expiresAt);
        return { expiresAt, tokens: await issueTokens(tx, session, now) };
      }
      case 'just_renewed':
        return { expiresAt: session.expiresAt, tokens: null };
      case 'reused':
        // Committed before the refusal: the thief must not keep what was taken.
        await endSession(tx, session, { now, reason: 'refresh_reused' });
        await publishSessionEnded(tx, context, { ...session, reason: 'refresh_reused' });
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
  return new AppError('CREDENTIALS_INVALID', 'This session is over: sign in again');
}
