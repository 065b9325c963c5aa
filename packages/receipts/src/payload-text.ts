import type { Digest } from '@countersign/contracts';
import type { ReceiptPayload, Signature } from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalString as quoted, type CryptoProvider } from '@countersign/crypto';
import { digest } from './hashes.ts';
import { optionalMember, optionalText, plain, plainOrNull, quotedOrNull, truth } from './json-text.ts';

/** The canonical text of a payload, which is signed and hashed. Throws like `canonicalize`. */
export function payloadText(payload: ReceiptPayload): string {
  return (
    `{"action":${quoted(payload.action)},` +
    optionalMember('approval_id', payload.approval_id) +
    `"args_hash":"${plain(payload.args_hash)}",` +
    `"decision_id":"${plain(payload.decision_id)}",` +
    optionalMember('decision_receipt_id', payload.decision_receipt_id) +
    `"effect_level":"${plain(payload.effect_level)}",` +
    `"issued_at":"${plain(payload.issued_at)}",` +
    `"kind":"${plain(payload.kind)}",` +
    `"lamport_clock":${canonicalNumber(payload.lamport_clock)},` +
    optionalMember('outcome', payload.outcome) +
    optionalMember('output_hash', payload.output_hash) +
    `"policy_epoch":${canonicalNumber(payload.policy_epoch)},` +
    `"policy_hash":${plainOrNull(payload.policy_hash)},` +
    `"prev_hash":${plainOrNull(payload.prev_hash)},` +
    `"principal_id":${quoted(payload.principal_id)},` +
    `"reason_code":"${plain(payload.reason_code)}",` +
    `"receipt_id":"${plain(payload.receipt_id)}",` +
    `"record_hash":"${plain(payload.record_hash)}",` +
    `"resource":${quotedOrNull(payload.resource)},` +
    `"session_id":${quoted(payload.session_id)},` +
    `"shadow":${truth(payload.shadow)},` +
    optionalText('spend_micros', payload.spend_micros) +
    `"tenant_id":"${plain(payload.tenant_id)}",` +
    `"tool":${quotedOrNull(payload.tool)},` +
    `"type":"${plain(payload.type)}",` +
    `"verdict":"${plain(payload.verdict)}"}`
  );
}

/** Prefix that separates receipt hashes from all other hashes. */
const hashPrefix = 'countersign.receipt-hash.v1\n';

/**
 * `receipt_hash`: the hash of {@link hashPrefix} and the canonical text of the receipt with its signature. Callers that
 * have the canonical text of the payload can pass it.
 */
export function receiptHash(
  provider: CryptoProvider,
  { payload, signature }: { payload: ReceiptPayload | string; signature: Signature },
): Digest {
  const text = typeof payload === 'string' ? payload : payloadText(payload);
  return receiptTextHash(provider, receiptText({ payload: text, signature }));
}

/** The canonical text of a receipt, from that of its payload. */
export function receiptText({ payload, signature }: { payload: string; signature: Signature }): string {
  return `{"payload":${payload},"signature":${signatureText(signature)}}`;
}

/** The `receipt_hash` of a receipt with this canonical text. */
export function receiptTextHash(provider: CryptoProvider, text: string): Digest {
  return digest(provider, hashPrefix + text);
}

/** The canonical text of a signature. */
export function signatureText({ alg, key_id, value }: Signature): string {
  return `{"alg":"${plain(alg)}","key_id":${quoted(key_id)},"value":${quoted(value)}}`;
}
