/**
 * The reason why a key may not sign: it was never published, is not valid yet, was revoked, or its validity has ended.
 */
export type KeyFault = 'unknown' | 'early' | 'revoked' | 'ended';

export type KeyWindow = { valid_from: Date; valid_until: Date | null; revoked_at: Date | null };

/**
 * The fault that keeps a key from signing at an instant. A revoked key may not sign at any instant, since statements
 * after its last checkpoint could not be proven. `hold_append` in the migrations applies the same rule to receipts.
 */
export function keyFaultAt(key: KeyWindow | undefined, at: Date): KeyFault | null {
  if (key === undefined) return 'unknown';
  if (key.revoked_at !== null) return 'revoked';
  if (at < key.valid_from) return 'early';
  return key.valid_until !== null && at >= key.valid_until ? 'ended' : null;
}

/** The text for a key that may not sign. */
export const keyFaultText: Readonly<Record<KeyFault, string>> = {
  unknown: 'is not published',
  early: 'is not valid yet',
  revoked: 'is revoked',
  ended: 'has ended',
};
