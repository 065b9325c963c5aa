import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { outcomeStatement, payloadOf, ulidOf } from '@countersign/receipts';
import { differingMember } from './differing-member.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Returns only if this outcome can have come of that decision: the decision let the call happen, and the outcome repeats it and
 * speaks of the same record. Throws {@link VerificationError} `LINK_MISMATCH`.
 */
export function verifyOutcome(payload: ReceiptPayload, decided: ReceiptPayload): void {
  if (decided.verdict !== 'ALLOW' || decided.shadow)
    throw new VerificationError('LINK_MISMATCH', `${decided.receipt_id} let nothing happen, so it has no outcome`);
  const { receipt_id, issued_at, outcome, output_hash, spend_micros } = payload;
  const place = { lamportClock: payload.lamport_clock, prevHash: payload.prev_hash };
  if (outcome === undefined) throw new VerificationError('LINK_MISMATCH', `${receipt_id} says no outcome`);
  if ((spend_micros === undefined) !== (decided.spend_micros === undefined))
    throw new VerificationError('LINK_MISMATCH', `${receipt_id} and its decision do not both count money`);
  const ending = { ulid: ulidOf(receipt_id), at: issued_at, outcome, output_hash, spend_micros };
  const { receipt } = outcomeStatement(decided, ending);
  const differing = differingMember(payloadOf(receipt, decided.record_hash, place), payload);
  if (differing !== null) throw new VerificationError('LINK_MISMATCH', `outcome and decision differ in ${differing}`);
}
