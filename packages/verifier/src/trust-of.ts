import { equalBytes } from '@countersign/crypto';
import { publicKeyBytes, type TrustedKey, type TrustedKeys } from './trusted-keys.ts';

/**
 * The trusted keys: pinned keys, within the validity that the kernel reports, and the kernel's own keys for purposes
 * without a pinned key. Receipts are verified only by pinned keys. A pinned key that the kernel does not
 * report keeps its pinned validity.
 */
export function trustOf(pinned: TrustedKeys, reported: TrustedKeys): TrustedKeys {
  const narrowedKeys = pinned.map((key) =>
    narrowed(key, reported.find((candidate) => isSameKey(key, candidate)) ?? key),
  );
  return [...narrowedKeys, ...reported.filter((key) => isTakenOnTrust(key, pinned))];
}

/**
 * Compares all members that identify a key. A kernel can report any key under the name of a pinned key, or the same key
 * for another purpose.
 */
export function isSameKey(a: TrustedKey, b: TrustedKey): boolean {
  const named = (key: TrustedKey) => [key.key_id, key.purpose, key.log_origin].join(' ');
  return named(a) === named(b) && equalBytes(publicKeyBytes(a), publicKeyBytes(b));
}

function isTakenOnTrust({ purpose, key_id }: TrustedKey, pinned: TrustedKeys): boolean {
  return purpose !== 'receipts' && !pinned.some((key) => key.purpose === purpose || key.key_id === key_id);
}

/** The validity only shrinks: an ended key does not become valid again because a kernel reports it. */
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

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(a) < Date.parse(b) ? a : b;
}
