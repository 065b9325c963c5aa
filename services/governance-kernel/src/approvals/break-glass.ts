import { AppError, type PrincipalId } from '@countersign/contracts';
import { brokenGlassMs, type Approval } from '@countersign/contracts/governance-kernel';
import type { VoteProof } from '../voting/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';
import { instant, lockedUntil } from './timelock.ts';

type Glass = Pick<ApprovalRow, 'brokenBy' | 'brokenReason' | 'brokenAtMs' | 'brokenWith'>;

export const wholeGlass: Glass = { brokenBy: null, brokenReason: null, brokenAtMs: null, brokenWith: null };

type Breaking = { by: PrincipalId; proof: VoteProof; nowMs: number; reason: string };

/**
 * The effect of one person's approval alone: one use, soon, with a reason that stays. Throws INVALID_REQUEST without
 * one.
 */
export function broken({ expiresAtMs }: ApprovalRow, { by, proof, nowMs, reason }: Breaking) {
  const brokenReason = reason.trim();
  if (brokenReason === '')
    throw new AppError('INVALID_REQUEST', 'Give a reason to break the glass', { param: 'reason' });
  return {
    ...{ brokenBy: by, brokenReason, brokenAtMs: nowMs, brokenWith: proof },
    ...{ scope: 'once', usesRemaining: 1, timelockUntilMs: null },
    expiresAtMs: Math.min(expiresAtMs, nowMs + brokenGlassMs),
  };
}

/** Throws ILLEGAL_TRANSITION where neither a quorum nor a time lock holds the call. */
export function requireHeld(approval: ApprovalRow, nowMs: number): void {
  const { state, quorum, timelockSeconds } = approval;
  const isHeld = state === 'pending' ? quorum > 1 || timelockSeconds > 0 : lockedUntil(approval, nowMs) !== null;
  if (isHeld) return;
  throw new AppError('ILLEGAL_TRANSITION', 'Neither a quorum nor a time lock holds this call, so there is no glass', {
    details: { state, allowed: state === 'pending' ? ['approve', 'deny', 'revoke'] : ['revoke'] },
  });
}

export function brokenGlass({ brokenBy: by, brokenReason: reason, brokenAtMs }: Glass): Approval['break_glass'] {
  if (by === null || reason === null || brokenAtMs === null) return null;
  return { by, reason, at: instant(brokenAtMs) };
}
