import { createHash, randomBytes } from 'node:crypto';
import type { SessionFacts } from '../store/sessions.ts';

export const sessionLifetimeMs = 30 * 24 * 3_600_000;
/** A stolen token is worth a day, then its thief and its owner collide. */
const rotateAfterMs = 24 * 3_600_000;
/** Requests that were under way when the token changed may still arrive with the old one. */
const rotationOverlapMs = 60_000;

const tokenPattern = /^cs_[A-Za-z0-9_-]{43}$/;

export function newSessionToken(): string {
  return `cs_${randomBytes(32).toString('base64url')}`;
}

export function looksLikeSessionToken(token: string): boolean {
  return tokenPattern.test(token);
}

/** 256 random bits need no salt and no slow hash. */
export function sessionTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** `reused`: a party holds a token that was replaced, so the whole family is revoked. */
type SessionState = 'valid' | 'due' | 'expired' | 'revoked' | 'reused';

export function sessionState(session: SessionFacts, now: Date): SessionState {
  if (session.revokedAt !== null) return 'revoked';
  if (session.expiresAt <= now) return 'expired';
  if (session.rotatedAt !== null) {
    return now.getTime() - session.rotatedAt.getTime() <= rotationOverlapMs ? 'valid' : 'reused';
  }
  return now.getTime() - session.createdAt.getTime() >= rotateAfterMs ? 'due' : 'valid';
}
