import { BoundaryRecord, SignedReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import type { CryptoProvider } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Returns only if `record_hash` is the hash of the record and record and receipt point at each other and tell the same story. The
 * receipt's own signature is the business of `verifyReceipt`. Throws {@link VerificationError}: `MALFORMED`,
 * `RECORD_HASH_MISMATCH`, `LINK_MISMATCH`.
 */
export function verifyRecord(record: unknown, receipt: unknown, provider: CryptoProvider): BoundaryRecord {
  const parsed = parseUntrusted(BoundaryRecord, record, 'record');
  const { payload } = parseUntrusted(SignedReceipt, signedPart(receipt), 'receipt');
  assertRecordHash(parsed, provider);
  assertLinks(parsed, payload);
  return parsed;
}

function assertRecordHash({ record_hash, ...hashed }: BoundaryRecord, provider: CryptoProvider): void {
  if (digestOf(provider, canonicalBytes(parsePlainJson(hashed))) !== record_hash) {
    throw new VerificationError('RECORD_HASH_MISMATCH', 'record_hash is not the hash of the record');
  }
}

function assertLinks(record: BoundaryRecord, payload: ReceiptPayload): void {
  const pairs: [string, unknown, unknown][] = [
    ['record_hash', record.record_hash, payload.record_hash],
    ['receipt_id', record.receipt_id, payload.receipt_id],
    ['kind', record.kind, payload.kind],
    ['decision_id', record.decision_id, payload.decision_id],
    ['tenant_id', record.tenant_id, payload.tenant_id],
    ['principal_id', record.principal_id, payload.principal_id],
    ['session_id', record.session_id, payload.session_id],
    ['verdict', record.verdict, payload.verdict],
    ['reason_code', record.reason_code, payload.reason_code],
    ['action', record.intent.action, payload.action],
    ['tool', record.intent.tool, payload.tool],
    ['resource', record.intent.resource, payload.resource],
    ['effect_level', record.intent.effect_level, payload.effect_level],
    ['args_hash', record.intent.args_hash, payload.args_hash],
    ['policy_hash', record.policy_hash, payload.policy_hash],
    ['policy_epoch', record.policy_epoch, payload.policy_epoch],
  ];
  const differing = pairs.find(([, inRecord, inReceipt]) => inRecord !== inReceipt);
  if (differing !== undefined)
    throw new VerificationError('LINK_MISMATCH', `record and receipt differ in ${differing[0]}`);
}

function signedPart(receipt: unknown): unknown {
  if (typeof receipt !== 'object' || receipt === null || !('receipt_hash' in receipt)) return receipt;
  const { receipt_hash: _hash, log_index: _index, ...signed } = receipt as Record<string, unknown>; // parsed strictly by the caller
  return signed;
}
