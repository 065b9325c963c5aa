import { isTrustList, verifyTrustList, type TrustRoot } from './trust-list.ts';
import { parseKeySet, type TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/** Without a root, the caller trusts a key set without a signature over it. */
type PinnedTrust = Omit<TrustRoot, 'root'> & { root?: string | undefined };

/**
 * The keys that a caller trusts: a key set that it kept, or a trust list (`trust.json`) with the pinned root key.
 * Throws {@link VerificationError}, also for a trust list without a root, and for a root with a key set, since no root
 * signed it.
 */
export function readTrust(value: unknown, { root, ...pinned }: PinnedTrust): TrustedKey[] {
  if (root !== undefined) return verifyTrustList(value, { root, ...pinned }).keys;
  if (isTrustList(value))
    throw new VerificationError('MALFORMED', 'the file is a trust list, so pass the root key that you pinned');
  return parseKeySet(value);
}
