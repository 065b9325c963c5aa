/** Whether a key counts no more, by the clock of this browser. */
export function hasEnded(revokedAt: string | null, expiresAt: string): boolean {
  return revokedAt !== null || Date.parse(expiresAt) <= Date.now();
}
