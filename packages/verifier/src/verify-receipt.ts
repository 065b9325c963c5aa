import { SignedReceipt, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptPayload, Signature } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, utf8Bytes } from '@countersign/crypto';
import type { CryptoProvider } from '@countersign/crypto';
import { payloadText, receiptHash, ulidOf } from '@countersign/receipts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertValidAt, findKey, publicKeyBytes } from './trusted-keys.ts';
import type { TrustedKey, TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

export type VerifiedReceipt = { payload: ReceiptPayload; receipt_hash: string; key_id: string };

/**
 * Returns only if the receipt is what a trusted key signed while it was valid: Ed25519 (RFC 8032) over the canonical JSON
 * (RFC 8785) of the payload. Takes a signed receipt, or a stored one whose `receipt_hash` is then held against the payload.
 * Throws {@link VerificationError}: `MALFORMED`, `HASH_MISMATCH`, `KEY_UNKNOWN`, `KEY_NOT_VALID_YET`, `KEY_REVOKED`, `KEY_EXPIRED`,
 * `SIGNATURE_INVALID`, `LINK_MISMATCH` for one whose own members contradict each other.
 */
export function verifyReceipt(receipt: unknown, trust: TrustedKeys, provider: CryptoProvider): VerifiedReceipt {
  const { payload, signature, claimedHash } = parseReceipt(receipt);
  const signed = utf8Bytes(payloadText(payload));
  const receipt_hash = receiptHash(provider, signed);
  assertHash(claimedHash, receipt_hash);
  const key = findKey(trust, signature.key_id);
  assertValidAt(key, payload.issued_at);
  assertSignature(key, { signed, signature }, provider);
  assertIds(payload);
  return { payload, receipt_hash, key_id: key.key_id };
}

function parseReceipt(receipt: unknown): { payload: ReceiptPayload; signature: Signature; claimedHash: string | null } {
  const isStored = typeof receipt === 'object' && receipt !== null && 'receipt_hash' in receipt;
  if (!isStored) return { ...parseUntrusted(SignedReceipt, receipt, 'receipt'), claimedHash: null };
  const { payload, signature, receipt_hash } = parseUntrusted(StoredReceipt, receipt, 'receipt');
  return { payload, signature, claimedHash: receipt_hash };
}

function assertHash(claimed: string | null, computed: string): void {
  if (claimed !== null && claimed !== computed)
    throw new VerificationError('HASH_MISMATCH', 'receipt_hash is not the hash of the payload');
}

function assertSignature(
  key: TrustedKey,
  statement: { signed: Uint8Array; signature: Signature },
  provider: CryptoProvider,
): void {
  const signature = signatureBytes(statement.signature);
  if (!provider.verifyEd25519(publicKeyBytes(key), statement.signed, signature)) {
    throw new VerificationError('SIGNATURE_INVALID', `the signature of key ${key.key_id} does not verify`);
  }
}

/** What shares a ULID belongs together; only an outcome is about a receipt other than itself. */
function assertIds({ kind, receipt_id, decision_id, ...payload }: ReceiptPayload): void {
  const { outcome, output_hash, decision_receipt_id } = payload;
  const isOutcome = kind === 'outcome';
  if (isOutcome !== (outcome !== undefined) || isOutcome !== (decision_receipt_id !== undefined))
    throw new VerificationError('LINK_MISMATCH', 'exactly an outcome has an outcome and the receipt that it settles');
  if (!isOutcome && output_hash !== undefined)
    throw new VerificationError('LINK_MISMATCH', 'only an outcome has an output');
  if (ulidOf(decision_receipt_id ?? receipt_id) !== ulidOf(decision_id))
    throw new VerificationError('LINK_MISMATCH', 'receipt and decision do not share a ULID');
}

function signatureBytes({ value }: Signature): Uint8Array {
  try {
    return decodeBase64Url(value);
  } catch {
    throw new VerificationError('SIGNATURE_INVALID', 'the signature is not canonical base64url');
  }
}
