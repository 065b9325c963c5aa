import { instantOf, AppError, type PrincipalId } from '@countersign/contracts';
import { brokenGlassMs, type Approval } from '@countersign/contracts/governance-kernel';
import type { VoteProof } from '../voting/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';
import { lockedUntil } from './timelock.ts';

type Glass = Pick<ApprovalRow, 'brokenBy' | 'brokenReason' | 'brokenAtMs' | 'brokenWith'>;

export const wholeGlass: Glass = { brokenBy: null, brokenReason: null, brokenAtMs: null, brokenWith: null };

type Breaking = { by: PrincipalId; proof: VoteProof; nowMs: number; reason: string };

/**
 * The effect of break glass: one person approves alone, for one use within a short time, with a recorded reason.
 * Throws INVALID_REQUEST without a reason.
 */
export function broken({ expiresAtMs }: ApprovalRow, { by, proof, nowMs, reason }: Breaking) {
  const brokenReason = reason.trim();
  if (brokenReason === '')
    throw new AppError('INVALID_REQUEST', 'reason is empty. State why the approval is skipped', { param: 'reason' });
  return {
    ...{ brokenBy: by, brokenReason, brokenAtMs: nowMs, brokenWith: proof },
    ...{ scope: 'once', usesRemaining: 1, timelockUntilMs: null },
    expiresAtMs: Math.min(expiresAtMs, nowMs + brokenGlassMs),
  };
}

/** Throws ILLEGAL_TRANSITION unless the call waits for a quorum or a time lock. */
export function requireHeld(approval: ApprovalRow, nowMs: number): void {
  const { state, quorum, timelockSeconds } = approval;
  const isHeld = state === 'pending' ? quorum > 1 || timelockSeconds > 0 : lockedUntil(approval, nowMs) !== null;
  if (isHeld) return;
  throw new AppError('ILLEGAL_TRANSITION', 'Break glass applies only to calls that wait for a quorum or a time lock', {
    details: { state, allowed: state === 'pending' ? ['approve', 'deny', 'revoke'] : ['revoke'] },
  });
}

export function brokenGlass({ brokenBy: by, brokenReason: reason, brokenAtMs }: Glass): Approval['break_glass'] {
  if (by === null || reason === null || brokenAtMs === null) return null;
  return { by, reason, at: instantOf(brokenAtMs) };
}
