import type { Digest } from '@countersign/contracts';
import type { SignedReceipt } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyReceipt, type TrustedKeys, type VerificationErrorCode } from '@countersign/verifier';

export type DemoVerdict = {
  valid: boolean;
  signature_valid: boolean;
  hash_matches: boolean;
  code: VerificationErrorCode | null;
  receipt_hash: Digest;
  expected_receipt_hash: Digest;
};

/** Asks the public verifier about a receipt, and whether it is the one that was expected. */
export function verifyShown(
  receipt: SignedReceipt,
  expected: Digest,
  { trust, provider }: { trust: TrustedKeys; provider: CryptoProvider },
): DemoVerdict {
  const receiptHash = hashOf(receipt, provider);
  const hashMatches = receiptHash === expected;
  const fault = faultOf(() => verifyReceipt(receipt, trust, provider));
  return {
    valid: fault === null && hashMatches,
    signature_valid: fault === null,
    hash_matches: hashMatches,
    code: fault ?? (hashMatches ? null : 'HASH_MISMATCH'),
    receipt_hash: receiptHash,
    expected_receipt_hash: expected,
  };
}

export function hashOf({ payload }: SignedReceipt, provider: CryptoProvider): Digest {
  return digestOf(provider, canonicalBytes(payload)) as Digest; // digestOf writes exactly this form
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
