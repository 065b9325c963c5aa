import { SignedReceipt, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptPayload, Signature } from '@countersign/contracts/governance-kernel';
import { reasonCodes } from '@countersign/contracts';
import { decodeBase64Url, utf8Bytes } from '@countersign/crypto';
import type { CryptoProvider } from '@countersign/crypto';
import { payloadText, receiptText, receiptTextHash, ulidOf } from '@countersign/receipts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertInWindow, assertNotRevoked, findKey, publicKeyBytes } from './trusted-keys.ts';
import type { TrustedKey, TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

export type VerifiedReceipt = { payload: ReceiptPayload; receipt_hash: string; key_id: string };
export type OpenedReceipt = { payload: ReceiptPayload; receipt_hash: string; key: TrustedKey };

/**
 * Returns only if a trusted key signed exactly this receipt while the key was valid. The signature is Ed25519 (RFC
 * 8032) over the canonical JSON (RFC 8785) of the payload. Accepts a signed receipt, or a stored one, whose
 * `receipt_hash` is then compared with payload and signature. Throws {@link VerificationError}: `MALFORMED`,
 * `HASH_MISMATCH`, `KEY_UNKNOWN`, `KEY_NOT_VALID_YET`, `KEY_REVOKED`, `KEY_EXPIRED`, `SIGNATURE_INVALID`, and
 * `LINK_MISMATCH` or `VERDICT_MISMATCH` for a receipt whose own members contradict each other. Alone, a receipt of a
 * revoked key never verifies: see `verifyInclusion`.
 */
export function verifyReceipt(receipt: unknown, trust: TrustedKeys, provider: CryptoProvider): VerifiedReceipt {
  const { payload, receipt_hash, key } = openReceipt(receipt, trust, provider);
  assertNotRevoked(key, { claimed: payload.issued_at, seen: null });
  return { payload, receipt_hash, key_id: key.key_id };
}

/**
 * Like `verifyReceipt`, for a receipt that the caller has kept since `keptSince` by its own clock. The caller has then
 * seen it before a later revocation. Throws `KEY_REVOKED` unless the receipt was both issued and kept before the
 * revocation.
 */
export function verifyKeptReceipt(
  { receipt, keptSince }: { receipt: unknown; keptSince: string },
  trust: TrustedKeys,
  provider: CryptoProvider,
): VerifiedReceipt {
  const { payload, receipt_hash, key } = openReceipt(receipt, trust, provider);
  assertNotRevoked(key, { claimed: payload.issued_at, seen: { time: keptSince } });
  return { payload, receipt_hash, key_id: key.key_id };
}

/** Verifies everything except the revocation of the key, which depends on who else saw the receipt, and when. */
export function openReceipt(receipt: unknown, trust: TrustedKeys, provider: CryptoProvider): OpenedReceipt {
  const { claimedHash, ...signed } = parseReceipt(receipt);
  return openParsedReceipt(signed, { texts: textsOfReceipt(signed), claimedHash, trust, provider });
}

/** The canonical texts of a receipt and of its payload. */
export type ReceiptTexts = { payload: string; receipt: string };

export function textsOfReceipt({ payload, signature }: SignedReceipt): ReceiptTexts {
  const text = payloadText(payload);
  return { payload: text, receipt: receiptText({ payload: text, signature }) };
}

type OpeningDeps = { texts: ReceiptTexts; claimedHash: string | null; trust: TrustedKeys; provider: CryptoProvider };

/** Like {@link openReceipt}, for a parsed receipt with its texts. */
export function openParsedReceipt(
  { payload, signature }: SignedReceipt,
  { texts, claimedHash, trust, provider }: OpeningDeps,
): OpenedReceipt {
  const receipt_hash = receiptTextHash(provider, texts.receipt);
  assertHash(claimedHash, receipt_hash);
  const key = findKey(trust, { keyId: signature.key_id, purpose: 'receipts' });
  assertInWindow(key, payload.issued_at);
  assertSignature(key, { signed: utf8Bytes(texts.payload), signature }, provider);
  assertIds(payload);
  assertVerdict(payload);
  return { payload, receipt_hash, key };
}

function parseReceipt(receipt: unknown): { payload: ReceiptPayload; signature: Signature; claimedHash: string | null } {
  const isStored = typeof receipt === 'object' && receipt !== null && 'receipt_hash' in receipt;
  if (!isStored) return { ...parseUntrusted(SignedReceipt, receipt, 'receipt'), claimedHash: null };
  const { payload, signature, receipt_hash } = parseUntrusted(StoredReceipt, receipt, 'receipt');
  return { payload, signature, claimedHash: receipt_hash };
}

function assertHash(claimed: string | null, computed: string): void {
  if (claimed !== null && claimed !== computed)
    throw new VerificationError('HASH_MISMATCH', 'receipt_hash is not the hash of payload and signature');
}

/** Throws `SIGNATURE_INVALID`. */
export function assertSignature(
  key: TrustedKey,
  statement: { signed: Uint8Array; signature: Signature },
  provider: CryptoProvider,
): void {
  const signature = signatureBytes(statement.signature);
  if (!provider.verifyEd25519(publicKeyBytes(key), statement.signed, signature)) {
    throw new VerificationError('SIGNATURE_INVALID', `the signature of key ${key.key_id} does not verify`);
  }
}

/** Ids with one ULID belong together. Only an outcome refers to another receipt. */
function assertIds(payload: ReceiptPayload): void {
  const { kind, receipt_id, decision_id, outcome, output_hash, decision_receipt_id } = payload;
  const isOutcome = kind === 'outcome';
  if (isOutcome !== (outcome !== undefined) || isOutcome !== (decision_receipt_id !== undefined))
    throw new VerificationError(
      'LINK_MISMATCH',
      'outcome and decision_receipt_id are required for the kind outcome, and not allowed otherwise',
    );
  if (!isOutcome && output_hash !== undefined)
    throw new VerificationError('LINK_MISMATCH', 'only the kind outcome may have output_hash');
  if (ulidOf(decision_receipt_id ?? receipt_id) !== ulidOf(decision_id))
    throw new VerificationError('LINK_MISMATCH', 'the receipt and its decision do not have the same ULID');
}

/** A reason code belongs to one verdict. */
function assertVerdict({ verdict, reason_code }: ReceiptPayload): void {
  if (reasonCodes[reason_code].verdict !== verdict)
    throw new VerificationError('VERDICT_MISMATCH', `${reason_code} is not a reason for ${verdict}`);
}

function signatureBytes({ value }: Signature): Uint8Array {
  try {
    return decodeBase64Url(value);
  } catch {
    throw new VerificationError('SIGNATURE_INVALID', 'the signature is not canonical base64url');
  }
}
