import { createHash, randomBytes } from 'node:crypto';

/** Long enough for a holiday, short enough that a forgotten mail opens nothing. */
export const inviteLifetimeMs = 7 * 24 * 3_600_000;

const tokenPattern = /^csi_[A-Za-z0-9_-]{43}$/;

export function newInviteToken(): string {
  return `csi_${randomBytes(32).toString('base64url')}`;
}

export function looksLikeInviteToken(token: string): boolean {
  return tokenPattern.test(token);
}

/** 256 random bits need no salt and no slow hash. */
export function inviteTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
