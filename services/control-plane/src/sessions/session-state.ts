import { renewalOverlapMs } from './lifetimes.ts';
import type { Holder } from './tokens.ts';

type SessionFacts = { expiresAt: Date; endedAt: Date | null };

/** Whether a session still opens something. */
export function isLive({ expiresAt, endedAt }: SessionFacts, now: Date): boolean {
  return endedAt === null && expiresAt > now;
}

/** Who holds a session: one that is within a workspace is a program's. */
export function holderOf({ within }: { within: object | null }): Holder {
  return within === null ? 'browser' : 'device';
}

/** `reused`: a party holds a refresh token that was spent, so the session ends. */
type Renewal = 'renew' | 'just_renewed' | 'reused' | 'over';

/** The effect of a refresh token. */
export function renewalBy(token: { spentAt: Date | null; session: SessionFacts }, now: Date): Renewal {
  if (!isLive(token.session, now)) return 'over';
  if (token.spentAt === null) return 'renew';
  return now.getTime() - token.spentAt.getTime() <= renewalOverlapMs ? 'just_renewed' : 'reused';
}
