import { AppError } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyTrustList, type VerifiedTrustList } from '@countersign/verifier';

type Pinned = { root: string; provider: CryptoProvider };

/**
 * The newest list that the root signed. `null` when there are no lists. Throws RECEIPT_STORE_UNAVAILABLE when there are
 * lists and the root signed none of them. The keys that kernels published must not replace these lists.
 */
export function newestList(documents: readonly unknown[], pinned: Pinned): VerifiedTrustList | null {
  const signed = documents.flatMap((document) => verified(document, pinned) ?? []);
  const [newest] = signed.sort((left, right) => right.list.version - left.list.version);
  if (newest === undefined && documents.length > 0)
    throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'No stored trust list is signed by the configured root key');
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
