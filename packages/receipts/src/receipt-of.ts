import type { RecordMembers } from './record-text.ts';
import type { ReceiptMembers } from './statement.ts';

/** The receipt for a record. All its members except `shadow` come from the record. */
export function receiptOf(record: RecordMembers, { shadow }: { shadow: boolean }): ReceiptMembers {
  const { intent } = record;
  const receipt: ReceiptMembers = {
    action: intent.action,
    args_hash: intent.args_hash,
    decision_id: record.decision_id,
    effect_level: intent.effect_level,
    issued_at: record.created_at,
    kind: record.kind,
    policy_epoch: record.policy_epoch,
    policy_hash: record.policy_hash,
    principal_id: record.principal_id,
    reason_code: record.reason_code,
    receipt_id: record.receipt_id,
    resource: intent.resource,
    session_id: record.session_id,
    shadow,
    tenant_id: record.tenant_id,
    tool: intent.tool,
    verdict: record.verdict,
  };
  if (record.approval_id !== null) receipt.approval_id = record.approval_id;
  const spend = spendOf(record);
  if (spend !== null) receipt.spend_micros = spend;
  return receipt;
}

/** `null` when the call costs nothing or its cost is unknown. The receipt then omits the amount. */
function spendOf({ demand }: RecordMembers): string | null {
  const spend = demand?.spend_micros ?? null;
  return spend === '0' ? null : spend;
}
