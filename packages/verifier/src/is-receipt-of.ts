import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';

/**
 * Whether the payload is the one that a kernel derives from the record. Both are parsed. The members that a record does
 * not determine are not compared: the place in the chain, and `shadow`. An outcome has no record, so its members must be
 * absent.
 */
export function isReceiptOf(record: BoundaryRecord, payload: ReceiptPayload): boolean {
  const { intent } = record;
  return (
    payload.record_hash === record.record_hash &&
    payload.receipt_id === record.receipt_id &&
    payload.decision_id === record.decision_id &&
    payload.kind === record.kind &&
    payload.verdict === record.verdict &&
    payload.reason_code === record.reason_code &&
    payload.issued_at === record.created_at &&
    payload.policy_hash === record.policy_hash &&
    payload.policy_epoch === record.policy_epoch &&
    payload.approval_id === (record.approval_id ?? undefined) &&
    hasCaller(record, payload) &&
    hasCall(intent, payload) &&
    hasSpend(record, payload) &&
    isNoOutcome(payload)
  );
}

function hasCaller(record: BoundaryRecord, payload: ReceiptPayload): boolean {
  return (
    payload.tenant_id === record.tenant_id &&
    payload.principal_id === record.principal_id &&
    payload.session_id === record.session_id
  );
}

function hasCall(intent: BoundaryRecord['intent'], payload: ReceiptPayload): boolean {
  return (
    payload.action === intent.action &&
    payload.tool === intent.tool &&
    payload.resource === intent.resource &&
    payload.effect_level === intent.effect_level &&
    payload.args_hash === intent.args_hash
  );
}

/** A receipt omits an unknown amount and the amount zero. */
function hasSpend({ demand }: BoundaryRecord, payload: ReceiptPayload): boolean {
  const spend = demand?.spend_micros ?? undefined;
  return payload.spend_micros === (spend === '0' ? undefined : spend);
}

function isNoOutcome({ outcome, output_hash, decision_receipt_id }: ReceiptPayload): boolean {
  return outcome === undefined && output_hash === undefined && decision_receipt_id === undefined;
}
