import { equalBytes } from '@countersign/crypto';
import { publicKeyBytes, type TrustedKey, type TrustedKeys } from './trusted-keys.ts';

/**
 * The keys that count now: pinned keys, for no longer than the kernel reports, and its own keys for purposes without a pinned key.
 * Receipts are verified by pinned keys alone. A pinned key that the kernel does not report counts as it was pinned.
 */
export function trustOf(pinned: TrustedKeys, reported: TrustedKeys): TrustedKeys {
  const known = pinned.map((key) => narrowed(key, reported.find((other) => isSameKey(key, other)) ?? key));
  return [...known, ...reported.filter((key) => isTakenOnTrust(key, pinned))];
}

/** Compares all that makes a key this key: a kernel can report any key under the name of a pinned one, or the same for another purpose. */
export function isSameKey(one: TrustedKey, other: TrustedKey): boolean {
  const named = (key: TrustedKey) => [key.key_id, key.purpose, key.log_origin].join(' ');
  return named(one) === named(other) && equalBytes(publicKeyBytes(one), publicKeyBytes(other));
}

function isTakenOnTrust({ purpose, key_id }: TrustedKey, pinned: TrustedKeys): boolean {
  return purpose !== 'receipts' && !pinned.some((key) => key.purpose === purpose || key.key_id === key_id);
}

/** Times only close in: a key that was ended once does not count again because a kernel reports it. */
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
