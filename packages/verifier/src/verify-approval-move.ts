import { ApprovalMoveEvidence } from '@countersign/contracts/governance-kernel';
import type { ApprovalState, BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

type Left = { verdict: BoundaryRecord['verdict']; states: readonly ApprovalState[] };

/** The approval's state after each move. An approval with one vote may wait for further people. */
const leftBy: ReadonlyMap<string, Left> = new Map<string, Left>([
  ['approval.approve', { verdict: 'ALLOW', states: ['pending', 'approved'] }],
  ['approval.break_glass', { verdict: 'ALLOW', states: ['approved'] }],
  ['approval.deny', { verdict: 'DENY', states: ['denied'] }],
  ['approval.revoke', { verdict: 'DENY', states: ['revoked'] }],
  ['approval.expire', { verdict: 'DENY', states: ['expired'] }],
]);

/** A question that was asked beforehand moves nothing. */
export function isApprovalMove({ kind, action }: Pick<ReceiptPayload, 'kind' | 'action'>): boolean {
  return (kind === 'approval' && action !== 'approval.request') || kind === 'break_glass';
}

/**
 * Checks a record that moved an approval, by any person and credential: its state follows from the move. Throws {@link
 * VerificationError} `MALFORMED`, `APPROVAL_CONTRADICTED`.
 */
export function assertApprovalMove({ kind, intent: { action, facts }, verdict }: BoundaryRecord): void {
  if (!isApprovalMove({ kind, action })) return;
  const { state } = parseUntrusted(ApprovalMoveEvidence, facts, 'move of an approval');
  const left = leftBy.get(action);
  if (left?.verdict !== verdict || !left.states.includes(state))
    throw new VerificationError('APPROVAL_CONTRADICTED', `${action} with ${verdict} leaves no approval ${state}`);
}
