import type { Digest } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalString as quoted, type CryptoProvider } from '@countersign/crypto';
import { digest } from './hashes.ts';
import { optionalMember, optionalText, plain, plainOrNull, quotedOrNull, truth } from './json-text.ts';

/** The canonical text of a payload: what is signed and hashed. Throws like `canonicalize`. */
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

/** `receipt_hash`: of the payload, or of its canonical text as UTF-8 where that is at hand. */
export function receiptHash(provider: CryptoProvider, payload: ReceiptPayload | Uint8Array): Digest {
  return digest(provider, payload instanceof Uint8Array ? payload : payloadText(payload));
}
