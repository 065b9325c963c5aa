import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { outcomeStatement, payloadOf, ulidOf } from '@countersign/receipts';
import { differingMember } from './differing-member.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Returns only if this outcome can belong to that decision. The decision must have permitted the call. The outcome must
 * repeat the decision and refer to the same record. Throws {@link VerificationError} `LINK_MISMATCH`.
 */
export function verifyOutcome(payload: ReceiptPayload, decided: ReceiptPayload): void {
  if (decided.verdict !== 'ALLOW' || decided.shadow)
    throw new VerificationError(
      'LINK_MISMATCH',
      `the decision ${decided.receipt_id} allowed no execution, so it cannot have an outcome`,
    );
  const { receipt_id, issued_at, outcome, output_hash, spend_micros } = payload;
  const place = { lamportClock: payload.lamport_clock, prevHash: payload.prev_hash };
  if (outcome === undefined) throw new VerificationError('LINK_MISMATCH', `${receipt_id} contains no outcome`);
  if ((spend_micros === undefined) !== (decided.spend_micros === undefined))
    throw new VerificationError('LINK_MISMATCH', `only one of ${receipt_id} and its decision has spend_micros`);
  const ending = { ulid: ulidOf(receipt_id), at: issued_at, outcome, output_hash, spend_micros };
  const { receipt } = outcomeStatement(decided, ending);
  const differing = differingMember(payloadOf(receipt, decided.record_hash, place), payload);
  if (differing !== null)
    throw new VerificationError('LINK_MISMATCH', `the outcome and its decision differ in ${differing}`);
}
