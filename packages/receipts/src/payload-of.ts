import type { Digest } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { assertReadable } from './assert-readable.ts';
import type { ReceiptMembers } from './statement.ts';

/**
 * Position of a receipt in its chain. `prevHash` is the receipt_hash of its predecessor, `null` for the first receipt.
 */
type ChainPlace = { lamportClock: number; prevHash: Digest | null };

/** The payload of a receipt at its position. Throws for a receipt that could not be parsed again. */
export function payloadOf(receipt: ReceiptMembers, recordHash: Digest, place: ChainPlace): ReceiptPayload {
  assertReadable(receipt);
  const payload: ReceiptPayload = {
    action: receipt.action,
    args_hash: receipt.args_hash,
    decision_id: receipt.decision_id,
    effect_level: receipt.effect_level,
    issued_at: receipt.issued_at,
    kind: receipt.kind,
    lamport_clock: place.lamportClock,
    policy_epoch: receipt.policy_epoch,
    policy_hash: receipt.policy_hash,
    prev_hash: place.prevHash,
    principal_id: receipt.principal_id,
    reason_code: receipt.reason_code,
    receipt_id: receipt.receipt_id,
    record_hash: recordHash,
    resource: receipt.resource,
    session_id: receipt.session_id,
    shadow: receipt.shadow,
    tenant_id: receipt.tenant_id,
    tool: receipt.tool,
    type: 'countersign.receipt.v1',
    verdict: receipt.verdict,
  };
  if (receipt.approval_id !== undefined) payload.approval_id = receipt.approval_id;
  if (receipt.decision_receipt_id !== undefined) payload.decision_receipt_id = receipt.decision_receipt_id;
  if (receipt.outcome !== undefined) payload.outcome = receipt.outcome;
  if (receipt.output_hash !== undefined) payload.output_hash = receipt.output_hash;
  if (receipt.spend_micros !== undefined) payload.spend_micros = receipt.spend_micros;
  return payload;
}
