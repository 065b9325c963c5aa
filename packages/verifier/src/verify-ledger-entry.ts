import { EarlyWitness } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import { verifyInclusion } from './verify-log.ts';
import { verifyReceipt, type VerifiedReceipt } from './verify-receipt.ts';

/**
 * Returns only if the receipt verifies. If its key was revoked, a checkpoint from before the revocation must contain
 * the receipt. Both members of the entry may have any value. Throws {@link VerificationError}: those of `verifyReceipt`
 * and `verifyInclusion`.
 *
 * @example
 * const { payload } = verifyLedgerEntry(entry, trust, provider);
 */
export function verifyLedgerEntry(
  { receipt, witness = null }: { receipt: unknown; witness?: unknown },
  trust: TrustedKeys,
  provider: CryptoProvider,
): VerifiedReceipt {
  if (witness === null) return verifyReceipt(receipt, trust, provider);
  const { proof, checkpoint } = parseUntrusted(EarlyWitness, witness, 'witness');
  return verifyInclusion({ receipt, proof, checkpoint, trust, provider });
}
