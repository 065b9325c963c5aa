import { createHash, randomBytes } from 'node:crypto';
import type { SessionFacts } from '../store/sessions.ts';

export const sessionLifetimeMs = 30 * 24 * 3_600_000;
/**
 * A stolen token works unnoticed for about a day. After the rotation, either its thief or its owner uses a replaced
 * token, which revokes all tokens of the sign-in.
 */
const rotateAfterMs = 24 * 3_600_000;
/** Requests that were in progress when the token changed may still arrive with the old one. */
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

/** `reused`: the token was replaced more than a minute ago and is used again, so the whole family is revoked. */
type SessionState = 'valid' | 'due' | 'expired' | 'revoked' | 'reused';

export function sessionState(session: SessionFacts, now: Date): SessionState {
  if (session.revokedAt !== null) return 'revoked';
  if (session.expiresAt <= now) return 'expired';
  if (session.rotatedAt !== null) {
    return now.getTime() - session.rotatedAt.getTime() <= rotationOverlapMs ? 'valid' : 'reused';
  }
  return now.getTime() - session.createdAt.getTime() >= rotateAfterMs ? 'due' : 'valid';
}
