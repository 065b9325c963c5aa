import type { Digest } from '@countersign/contracts';
import type { SignedReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { receiptHash } from '@countersign/receipts';
import { VerificationError, verifyReceipt, type TrustedKeys, type VerificationErrorCode } from '@countersign/verifier';

type DemoVerdict = {
  valid: boolean;
  signature_valid: boolean;
  hash_matches: boolean;
  code: VerificationErrorCode | null;
  receipt_hash: Digest;
  expected_receipt_hash: Digest;
};

/** Verifies a receipt with the public verifier, and compares its hash with the expected hash. */
export function verifyShown(
  receipt: SignedReceipt,
  expected: Digest,
  { trust, provider }: { trust: TrustedKeys; provider: CryptoProvider },
): DemoVerdict {
  const shownHash = receiptHash(provider, receipt);
  const hashMatches = shownHash === expected;
  const fault = faultOf(() => verifyReceipt(receipt, trust, provider));
  return {
    valid: fault === null && hashMatches,
    signature_valid: fault === null,
    hash_matches: hashMatches,
    code: fault ?? (hashMatches ? null : 'HASH_MISMATCH'),
    receipt_hash: shownHash,
    expected_receipt_hash: expected,
  };
}

function faultOf(verify: () => unknown): VerificationErrorCode | null {
  try {
    verify();
    return null;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return error.code;
  }
}
