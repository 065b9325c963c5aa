import { serverClock } from '../api/server-clock.ts';

/** Whether a key is revoked or expired, by the server's clock. */
export function hasEnded(revokedAt: string | null, expiresAt: string): boolean {
  return revokedAt !== null || Date.parse(expiresAt) <= serverClock.nowMs();
}
