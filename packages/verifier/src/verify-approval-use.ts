import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

/**
 * Checks a decision that lets a call happen. It names an approval exactly where it used one up, which is where the
 * approval gate passed. Otherwise it could not be compared with the votes. A trial or a proposal uses nothing. Throws
 * {@link VerificationError} `APPROVAL_CONTRADICTED`.
 */
export function assertApprovalUse(record: BoundaryRecord, { shadow }: Pick<ReceiptPayload, 'shadow'>): void {
  const { kind, verdict, gates, dispatched_by, approval_id } = record;
  if (kind !== 'decision' || verdict !== 'ALLOW') return;
  const isGranted = gates.some(({ gate, outcome }) => gate === 'approval' && outcome === 'pass');
  const isUsed = isGranted && !shadow && dispatched_by !== 'nobody';
  if (isUsed === (approval_id !== null)) return;
  // Stryker disable next-line StringLiteral: A call that used none and is refused for it names one.
  const lie = isUsed ? 'used an approval and names none' : `names the approval ${approval_id ?? ''} and used none`;
  throw new VerificationError('APPROVAL_CONTRADICTED', `the call ${lie}`);
}
