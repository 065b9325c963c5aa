import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

/**
 * Checks a decision that permits a call. It must name an approval exactly when the approval gate passed. Otherwise the
 * decision could not be compared with the votes. A shadow decision or a proposal uses no approval. Throws {@link
 * VerificationError} `APPROVAL_CONTRADICTED`.
 */
export function assertApprovalUse(record: BoundaryRecord, { shadow }: Pick<ReceiptPayload, 'shadow'>): void {
  const { kind, verdict, gates, dispatched_by, approval_id } = record;
  if (kind !== 'decision' || verdict !== 'ALLOW') return;
  const isGranted = gates.some(({ gate, outcome }) => gate === 'approval' && outcome === 'pass');
  const isUsed = isGranted && !shadow && dispatched_by !== 'nobody';
  if (isUsed === (approval_id !== null)) return;
  // Stryker disable next-line StringLiteral: The id is not null where the message contains it.
  const lie = isUsed ? 'used an approval but names none' : `names the approval ${approval_id ?? ''} but used none`;
  throw new VerificationError('APPROVAL_CONTRADICTED', `the call ${lie}`);
}
