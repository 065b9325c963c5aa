import type { SpanFields, ToldSpan } from '@countersign/service-kit';
import type { ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';

/** The telemetry fields of a sealed receipt. */
export function receiptFields(payload: ReceiptPayload): SpanFields {
  const { tool, policy_hash: policyHash } = payload;
  return {
    'countersign.decision.id': payload.decision_id,
    'countersign.receipt.id': payload.receipt_id,
    'countersign.verdict': payload.verdict,
    'countersign.reason_code': payload.reason_code,
    'countersign.action': payload.action,
    'countersign.effect_level': payload.effect_level,
    'countersign.policy.epoch': payload.policy_epoch,
    'countersign.policy.hash': policyHash ?? 'none',
    'countersign.shadow': payload.shadow,
    ...(tool === null ? {} : { 'gen_ai.tool.name': tool }),
  };
}

/**
 * A receipt as a span for a repeated export, at the time of the receipt. Its name differs from `decision`, the span
 * that may already have been exported.
 */
export function toldReceipt({ payload, receipt_hash }: StoredReceipt): ToldSpan {
  const proof = {
    'countersign.receipt.kind': payload.kind,
    'countersign.receipt.hash': receipt_hash,
    'countersign.record.hash': payload.record_hash,
  };
  return { name: 'receipt', at: new Date(payload.issued_at), fields: { ...receiptFields(payload), ...proof } };
}
