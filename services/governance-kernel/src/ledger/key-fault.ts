/**
 * The reason why a key may sign nothing: it was never published, it is dated too early, it was revoked, or it has
 * ended.
 */
export type KeyFault = 'unknown' | 'early' | 'revoked' | 'ended';

export type KeyWindow = { valid_from: Date; valid_until: Date | null; revoked_at: Date | null };

/**
 * The fault that keeps a key from signing at an instant. A revoked key signs nothing, whatever instant is stated:
 * statements between its last checkpoint and that instant could not be proven. `hold_append` in the migrations holds
 * the receipts against the same rule.
 */
export function keyFaultAt(key: KeyWindow | undefined, at: Date): KeyFault | null {
  if (key === undefined) return 'unknown';
  if (key.revoked_at !== null) return 'revoked';
  if (at < key.valid_from) return 'early';
  return key.valid_until !== null && at >= key.valid_until ? 'ended' : null;
}

/** The text for a key that may sign nothing. */
export const keyFaultText: Readonly<Record<KeyFault, string>> = {
  unknown: 'is not published',
  early: 'is not valid yet',
  revoked: 'is revoked',
  ended: 'has ended',
};
