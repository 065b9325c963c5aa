import { ApprovalMoveEvidence } from '@countersign/contracts/governance-kernel';
import type { ApprovalState, BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

type Remaining = { verdict: BoundaryRecord['verdict']; states: readonly ApprovalState[] };

/** The states in which each action may leave an approval. An approval with one vote may wait for more. */
const leftBy: ReadonlyMap<string, Remaining> = new Map<string, Remaining>([
  ['approval.approve', { verdict: 'ALLOW', states: ['pending', 'approved'] }],
  ['approval.break_glass', { verdict: 'ALLOW', states: ['approved'] }],
  ['approval.deny', { verdict: 'DENY', states: ['denied'] }],
  ['approval.revoke', { verdict: 'DENY', states: ['revoked'] }],
  ['approval.expire', { verdict: 'DENY', states: ['expired'] }],
]);

/** A request before the call does not change the state of an approval. */
export function isApprovalMove({ kind, action }: Pick<ReceiptPayload, 'kind' | 'action'>): boolean {
  return (kind === 'approval' && action !== 'approval.request') || kind === 'break_glass';
}

/**
 * Checks a record that moved an approval, for any person and credential: its state must follow from the move. Throws
 * {@link VerificationError} `MALFORMED`, `APPROVAL_CONTRADICTED`.
 */
export function assertApprovalMove({ kind, intent: { action, facts }, verdict }: BoundaryRecord): void {
  if (!isApprovalMove({ kind, action })) return;
  const { state } = parseUntrusted(ApprovalMoveEvidence, facts, 'move of an approval');
  const remaining = leftBy.get(action);
  if (remaining?.verdict !== verdict || !remaining.states.includes(state))
    throw new VerificationError('APPROVAL_CONTRADICTED', `${action} with ${verdict} cannot leave an approval ${state}`);
}
