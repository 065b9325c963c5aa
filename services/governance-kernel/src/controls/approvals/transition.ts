import { instantOf, AppError, isAppError } from '@countersign/contracts';
import type { Digest } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { samePerson } from '@countersign/policy';
import type { ApprovalRow } from './approval-row.ts';
import { broken, requireHeld } from './break-glass.ts';
import { withCeremonyHash } from './ceremony.ts';
import { votesOf, withVote } from './counted-votes.ts';
import {
  credentialName,
  proofOf,
  requireFourEyes,
  requireRight,
  type Electorate,
  type Voter,
  type VoterRole,
} from '../voting/decision-rights.ts';
import { lockFrom } from './timelock.ts';

export type ApprovalAction = ApprovalDecision;

type ApprovalVote = Voter & {
  action: ApprovalAction;
  expectedCeremonyHash: Digest;
  nowMs: number;
  /** The reason that the decider entered. */
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
 * The approval after a vote, and the role of the voter. Throws PRECONDITION_FAILED for an older state. Throws
 * ILLEGAL_TRANSITION for a second vote and for a move that the state does not permit. Throws INVALID_REQUEST for break
 * glass without a reason. Also throws the errors of requireRight and requireFourEyes for a caller who may not decide.
 */
export function transition(
  provider: CryptoProvider,
  approval: ApprovalRow,
  { electorate, ...vote }: ApprovalVote & { electorate: Electorate },
): { approval: ApprovalRow; role: VoterRole } {
  if (vote.expectedCeremonyHash !== approval.ceremonyHash) {
    throw new AppError('PRECONDITION_FAILED', 'The approval changed after you read it. Read it again', {
      param: 'expected_ceremony_hash',
    });
  }
  assertLegal(approval, vote);
  const role = requireRight(electorate, vote.action, vote);
  requireFourEyes(electorate, approval, vote.action, vote);
  assertFirstVote(approval, vote);
  const changes = moved(approval, { ...vote, role });
  return { role, approval: withCeremonyHash(provider, { ...approval, ...changes, updatedAtMs: vote.nowMs }) };
}

/** The approval after its withdrawal. `null` when it has ended, or can no longer be used. */
export function revoked(
  provider: CryptoProvider,
  approval: ApprovalRow,
  { nowMs, reason }: Pick<ApprovalVote, 'nowMs' | 'reason'>,
): ApprovalRow | null {
  if (nowMs >= approval.expiresAtMs || !movesFrom[approval.state].includes('revoke')) return null;
  return withCeremonyHash(provider, { ...approval, ...withdrawn(reason), updatedAtMs: nowMs });
}

/** The obstacle to this move for a person, as text for them. `null` when there is none. */
export function obstacleOf(
  provider: CryptoProvider,
  approval: ApprovalRow,
  vote: Omit<ApprovalVote, 'expectedCeremonyHash'> & { electorate: Electorate },
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
    const isOver = expired && (approval.state === 'pending' || approval.state === 'approved');
    const state = isOver ? 'expired' : approval.state;
    const why = state === 'expired' ? approval.rejectionReason : null;
    throw new AppError('ILLEGAL_TRANSITION', why ?? `This approval is ${state}, so ${action} is not possible`, {
      details: { state, allowed },
    });
  }
  if (action === 'break_glass') requireHeld(approval, nowMs);
  const lockedUntilMs = lockFrom(approval, nowMs);
  if (action === 'approve' && lockedUntilMs !== null && lockedUntilMs >= approval.expiresAtMs)
    throw new AppError(
      'ILLEGAL_TRANSITION',
      'The approval expires before its time lock ends, so it can no longer be approved',
      {
        details: { timelock_until: instantOf(lockedUntilMs), allowed: ['deny', 'revoke'] },
      },
    );
}

/**
 * Throws ILLEGAL_TRANSITION for a second vote by a person, and for a second approval with one credential. A person who
 * has voted may still break the glass.
 */
function assertFirstVote(approval: ApprovalRow, { action, by, credential }: ApprovalVote): void {
  if (action !== 'approve' && action !== 'deny') return;
  const votes = votesOf(approval);
  if (votes.some(({ by: voter }) => samePerson(voter, by)))
    throw new AppError('ILLEGAL_TRANSITION', 'This principal has already approved. Another principal must decide', {
      details: { allowed: [] },
    });
  if (action === 'approve' && votes.some((vote) => vote.credential === credentialName(by, credential)))
    throw new AppError(
      'ILLEGAL_TRANSITION',
      'This credential has already approved. A quorum counts each credential once',
      {
        details: { allowed: [] },
      },
    );
}

type Cast = ApprovalVote & { role: VoterRole };

function moved(
  approval: ApprovalRow,
  { action, by, credential, role, nowMs, reason = '' }: Cast,
): Partial<ApprovalRow> {
  const proof = proofOf(credential);
  switch (action) {
    case 'approve': {
      const votes = withVote(approval, { by, proof, role, credential: credentialName(by, credential) });
      if (votes.approvedBy.length < approval.quorum) return votes;
      return { ...votes, ...resolved('approved'), timelockUntilMs: lockFrom(approval, nowMs) };
    }
    case 'deny':
      return { ...resolved('denied'), rejectionReason: reason.trim() || null };
    case 'break_glass':
      return { ...resolved('approved'), ...broken(approval, { by, proof, nowMs, reason }) };
    case 'revoke':
      return withdrawn(reason);
  }
}

function withdrawn(reason = ''): Partial<ApprovalRow> {
  return { ...resolved('revoked'), rejectionReason: reason.trim() || null };
}

/** The arguments are deleted, since no further decision needs them. */
function resolved(state: ApprovalRow['state']): Pick<ApprovalRow, 'state' | 'argsEncrypted'> {
  return { state, argsEncrypted: null };
}
