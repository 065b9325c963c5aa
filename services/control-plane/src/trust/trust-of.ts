import { equalBytes } from '@countersign/crypto';
import { publicKeyBytes, type TrustedKey, type TrustedKeys } from '@countersign/verifier';

/**
 * What counts of the keys that a kernel tells: those that were pinned, for no longer than it says now, and where none of a purpose was
 * pinned, its own. Receipts are verified by pinned keys alone. One that was pinned and is not told counts as it was pinned.
 */
export function trustOf(pinned: TrustedKeys, told: TrustedKeys): TrustedKeys {
  const known = pinned.map((key) => narrowed(key, told.find((other) => isSame(key, other)) ?? key));
  return [...known, ...told.filter((key) => isTakenOnTrust(key, pinned))];
}

/** By all that makes it this key: under the name of a pinned one a kernel can tell any, or the same for another purpose. */
export function isSame(one: TrustedKey, other: TrustedKey): boolean {
  const named = (key: TrustedKey) => [key.key_id, key.purpose, key.log_origin].join(' ');
  return named(one) === named(other) && equalBytes(publicKeyBytes(one), publicKeyBytes(other));
}

function isTakenOnTrust({ purpose, key_id }: TrustedKey, pinned: TrustedKeys): boolean {
  return purpose !== 'receipts' && !pinned.some((key) => key.purpose === purpose || key.key_id === key_id);
}

/** Times only close in: what was ended once does not count again because a kernel says so. */
function narrowed(key: TrustedKey, now: TrustedKey): TrustedKey {
  const valid_until = earlier(key.valid_until, now.valid_until);
  const revoked_at = earlier(key.revoked_at, now.revoked_at);
  return {
    ...key,
    valid_from: Date.parse(now.valid_from) > Date.parse(key.valid_from) ? now.valid_from : key.valid_from,
    ...(valid_until !== undefined && { valid_until }),
    ...(revoked_at !== undefined && { revoked_at }),
  };
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Date.parse(one) < Date.parse(other) ? one : other;
}
