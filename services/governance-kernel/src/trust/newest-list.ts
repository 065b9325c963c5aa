import { AppError } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyTrustList, type VerifiedTrustList } from '@countersign/verifier';

type Pinned = { root: string; provider: CryptoProvider };

/**
 * The newest of these lists that the root signed; `null` when there is none at all. Throws RECEIPT_STORE_UNAVAILABLE when there are lists and
 * the root signed none of them: the keys of the table must not count in their place.
 */
export function newestList(documents: readonly unknown[], pinned: Pinned): VerifiedTrustList | null {
  const signed = documents.flatMap((document) => verified(document, pinned) ?? []);
  const [newest] = signed.sort((left, right) => right.list.version - left.list.version);
  if (newest === undefined && documents.length > 0)
    throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The configured root key signed none of the stored trust lists');
  return newest ?? null;
}

function verified(document: unknown, pinned: Pinned): VerifiedTrustList | null {
  try {
    return verifyTrustList(document, pinned);
  } catch (error) {
    if (error instanceof VerificationError) return null;
    throw error;
  }
}
