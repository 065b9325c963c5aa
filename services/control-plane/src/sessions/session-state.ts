import { renewalOverlapMs } from './lifetimes.ts';
import type { Holder } from './tokens.ts';

type SessionFacts = { expiresAt: Date; endedAt: Date | null };

/** Whether a session is still valid. */
export function isLive({ expiresAt, endedAt }: SessionFacts, now: Date): boolean {
  return endedAt === null && expiresAt > now;
}

/** The holder of a session: a session within a workspace belongs to a program. */
export function holderOf({ within }: { within: object | null }): Holder {
  return within === null ? 'browser' : 'device';
}

/** `reused`: a party sent a refresh token that was already used, so the session ends. */
type Renewal = 'renew' | 'just_renewed' | 'reused' | 'over';

/** The effect of a refresh token. */
export function renewalBy(token: { spentAt: Date | null; session: SessionFacts }, now: Date): Renewal {
  if (!isLive(token.session, now)) return 'over';
  if (token.spentAt === null) return 'renew';
  return now.getTime() - token.spentAt.getTime() <= renewalOverlapMs ? 'just_renewed' : 'reused';
}
