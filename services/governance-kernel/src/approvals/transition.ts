import { AppError, isAppError } from '@countersign/contracts';
import type { Digest, PrincipalId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { ApprovalRow } from './approval-row.ts';
import { withCeremonyHash } from './ceremony.ts';
import { samePerson } from './same-person.ts';

export type ApprovalAction = 'approve' | 'deny' | 'revoke';

type ApprovalVote = {
  action: ApprovalAction;
  by: PrincipalId;
  expectedCeremonyHash: Digest;
  nowMs: number;
  /** In the words of whoever decides. */
  reason?: string | undefined;
};

const movesFrom: Record<ApprovalRow['state'], ApprovalAction[]> = {
  pending: ['approve', 'deny', 'revoke'],
  approved: ['revoke'],
  denied: [],
  expired: [],
  revoked: [],
  consumed: [],
};

/**
 * The approval after a vote. Throws PRECONDITION_FAILED when the caller looked at an older state,
 * ILLEGAL_TRANSITION for a move that the state does not have, PERMISSION_DENIED for a person who may not decide this one.
 */
export function transition(provider: CryptoProvider, approval: ApprovalRow, vote: ApprovalVote): ApprovalRow {
  if (vote.expectedCeremonyHash !== approval.ceremonyHash) {
    throw new AppError('PRECONDITION_FAILED', 'The approval changed since it was read', {
      param: 'expected_ceremony_hash',
    });
  }
  assertLegal(approval, vote);
  if (vote.action !== 'revoke') assertEntitled(approval, vote.by);
  return withCeremonyHash(provider, { ...approval, ...moved(approval, vote), updatedAtMs: vote.nowMs });
}

/** Why somebody cannot make this move of what they see, in words for them; null: nothing stands against it. */
export function obstacleOf(
  provider: CryptoProvider,
  approval: ApprovalRow,
  { action, by, nowMs }: Omit<ApprovalVote, 'expectedCeremonyHash'>,
): string | null {
  try {
    transition(provider, approval, { action, by, nowMs, expectedCeremonyHash: approval.ceremonyHash });
    return null;
  } catch (error) {
    if (isAppError(error)) return error.message;
    throw error;
  }
}

function assertLegal(approval: ApprovalRow, { action, nowMs }: ApprovalVote): void {
  const expired = nowMs >= approval.expiresAtMs;
  const allowed = expired ? [] : movesFrom[approval.state];
  if (!allowed.includes(action)) {
    const state = expired && approval.state === 'pending' ? 'expired' : approval.state;
    throw new AppError('ILLEGAL_TRANSITION', `An approval that is ${state} cannot be moved by ${action}`, {
      details: { state, allowed },
    });
  }
  if (action === 'approve' && approval.timelockUntilMs !== null && nowMs < approval.timelockUntilMs) {
    throw new AppError('ILLEGAL_TRANSITION', 'The time lock of this approval is still running', {
      details: { timelock_until: new Date(approval.timelockUntilMs).toISOString() },
    });
  }
}

function assertEntitled(approval: ApprovalRow, by: PrincipalId): void {
  if (samePerson(by, approval.requestedBy))
    throw new AppError('PERMISSION_DENIED', 'Whoever asked for an approval cannot decide it');
  if (approval.approvers.length > 0 && !approval.approvers.includes(by)) {
    throw new AppError('PERMISSION_DENIED', 'This approval names its approvers, and the caller is not among them');
  }
  if (approval.approvedBy.some((voter) => samePerson(voter, by)))
    throw new AppError('ILLEGAL_TRANSITION', 'This principal has already approved', { details: { allowed: [] } });
}

function moved(approval: ApprovalRow, { action, by, reason = '' }: ApprovalVote): Partial<ApprovalRow> {
  switch (action) {
    case 'approve': {
      const approvedBy = [...approval.approvedBy, by];
      return approvedBy.length >= approval.quorum ? { approvedBy, ...resolved('approved') } : { approvedBy };
    }
    case 'deny':
      return { ...resolved('denied'), rejectionReason: reason.trim() || null };
    case 'revoke':
      return { ...resolved('revoked'), rejectionReason: reason.trim() || null };
  }
}

/** Whoever wanted to see the arguments has seen them. */
function resolved(state: ApprovalRow['state']): Pick<ApprovalRow, 'state' | 'argsEncrypted'> {
  return { state, argsEncrypted: null };
}
