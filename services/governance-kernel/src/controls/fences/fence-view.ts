import { instantOrNull, instantOf } from '@countersign/contracts';
import type { Fence } from '@countersign/contracts/governance-kernel';
import { inWindow, type FenceRow } from './fence-row.ts';

/** A fence as operators see it, with its count in the current window. */
export function fenceView(fence: FenceRow, nowMs: number): Fence {
  return {
    ...fenceTerms(fence),
    calls_taken: fence.callLimit === null ? null : inWindow(fence, nowMs).callsTaken,
  };
}

export function fenceTerms(fence: FenceRow): Omit<Fence, 'calls_taken'> {
  const { scope, kind, epoch, reason, callLimit, windowSeconds, expiresAtMs, setBy, effectiveAtMs } = fence;
  return {
    scope,
    kind,
    epoch,
    reason,
    call_limit: callLimit,
    window_seconds: windowSeconds,
    expires_at: instantOrNull(expiresAtMs),
    set_by: setBy,
    effective_at: instantOf(effectiveAtMs),
  };
}
