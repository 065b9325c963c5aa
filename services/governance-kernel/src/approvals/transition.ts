import { AppError, isAppError } from '@countersign/contracts';
import type { Digest, PrincipalId } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { samePerson } from '@countersign/policy';
import type { VoteProof } from '../passkeys/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';
import { broken, requireHeld } from './break-glass.ts';
import { withCeremonyHash } from './ceremony.ts';
import { instant, lockFrom } from './timelock.ts';

export type ApprovalAction = ApprovalDecision;

type ApprovalVote = {
  action: ApprovalAction;
  by: PrincipalId;
  /** What the vote comes with. */
  proof: VoteProof;
  expectedCeremonyHash: Digest;
  nowMs: number;
  /** In the words of whoever decides. */
  reason?: string | undefined;
};

const movesFrom: Record<ApprovalRow['state'], ApprovalAction[]> = {
  pending: ['approve', 'deny', 'revoke', 'break_glass'],
  approved: ['revoke', 'break_glass'],
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
  if (vote.action !== 'revoke') assertEntitled(approval, vote);
  return withCeremonyHash(provider, { ...approval, ...moved(approval, vote), updatedAtMs: vote.nowMs });
}

/** Why somebody cannot make this move of what they see, in words for them; null: nothing stands against it. */
export function obstacleOf(
  provider: CryptoProvider,
  approval: ApprovalRow,
  vote: Omit<ApprovalVote, 'expectedCeremonyHash'>,
): string | null {
  try {
    transition(provider, approval, { ...vote, expectedCeremonyHash: approval.ceremonyHash });
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
  if (action === 'break_glass') requireHeld(approval, nowMs);
  const lockedUntilMs = lockFrom(approval, nowMs);
  if (action === 'approve' && lockedUntilMs !== null && lockedUntilMs >= approval.expiresAtMs)
    throw new AppError('ILLEGAL_TRANSITION', 'It is too late to approve this: its time lock would outlast it', {
      details: { timelock_until: instant(lockedUntilMs), allowed: ['deny', 'revoke'] },
    });
}

function assertEntitled(approval: ApprovalRow, { action, by }: ApprovalVote): void {
  if (samePerson(by, approval.requestedBy))
    throw new AppError('PERMISSION_DENIED', 'Whoever asked for an approval cannot decide it');
  if (approval.approvers.length > 0 && !approval.approvers.includes(by)) {
    throw new AppError('PERMISSION_DENIED', 'This approval names its approvers, and the caller is not among them');
  }
  // Whoever has voted may still see that the others cannot be waited for.
  if (action !== 'break_glass' && approval.approvedBy.some((voter) => samePerson(voter, by)))
    throw new AppError('ILLEGAL_TRANSITION', 'This principal has already approved', { details: { allowed: [] } });
}

function moved(approval: ApprovalRow, { action, by, proof, nowMs, reason = '' }: ApprovalVote): Partial<ApprovalRow> {
  switch (action) {
    case 'approve': {
      const votes = { approvedBy: [...approval.approvedBy, by], approvedWith: [...approval.approvedWith, proof] };
      if (votes.approvedBy.length < approval.quorum) return votes;
      return { ...votes, ...resolved('approved'), timelockUntilMs: lockFrom(approval, nowMs) };
    }
    case 'deny':
      return { ...resolved('denied'), rejectionReason: reason.trim() || null };
    case 'break_glass':
      return { ...resolved('approved'), ...broken(approval, { by, proof, nowMs, reason }) };
    case 'revoke':
      return { ...resolved('revoked'), rejectionReason: reason.trim() || null };
  }
}

/** Whoever wanted to see the arguments has seen them. */
function resolved(state: ApprovalRow['state']): Pick<ApprovalRow, 'state' | 'argsEncrypted'> {
  return { state, argsEncrypted: null };
}
