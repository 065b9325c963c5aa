import { renewalOverlapMs } from './lifetimes.ts';

type SessionFacts = { expiresAt: Date; endedAt: Date | null };

/** Whether a session still opens something. */
export function isLive({ expiresAt, endedAt }: SessionFacts, now: Date): boolean {
  return endedAt === null && expiresAt > now;
}

/** `reused`: somebody holds a refresh token that was spent, so the session ends. */
type Renewal = 'renew' | 'just_renewed' | 'reused' | 'over';

/** What a refresh token is worth. */
export function renewalBy(token: { spentAt: Date | null; session: SessionFacts }, now: Date): Renewal {
  if (!isLive(token.session, now)) return 'over';
  if (token.spentAt === null) return 'renew';
  return now.getTime() - token.spentAt.getTime() <= renewalOverlapMs ? 'just_renewed' : 'reused';
}
