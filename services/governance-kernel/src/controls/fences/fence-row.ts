import type { FenceScope, Fence } from '@countersign/contracts/governance-kernel';
import type { PrincipalId } from '@countersign/contracts';

/**
 * The state of a scope after its latest command, and the calls that a throttle has permitted. Times are milliseconds
 * since the epoch.
 */
export type FenceRow = {
  readonly scope: FenceScope;
  readonly kind: Fence['kind'];
  readonly reason: string;
  /** The epoch of the command, which only rises. */
  readonly epoch: number;
  readonly callLimit: number | null;
  readonly windowSeconds: number | null;
  readonly effectiveAtMs: number;
  readonly expiresAtMs: number | null;
  readonly setBy: PrincipalId;
  readonly callsTaken: number;
  /** `null` for a fence without a window, and before the first call. */
  readonly windowEndsAtMs: number | null;
  /** Rises with each write of the count. A batch that has read another revision is stale. */
  readonly revision: number;
};

export function isInForce({ kind, expiresAtMs }: FenceRow, nowMs: number): boolean {
  return kind !== 'open' && (expiresAtMs === null || nowMs < expiresAtMs);
}

/** A throttle limits calls. A fence in force of any other kind, even an unknown one, stops all calls. */
export function stopsEveryCall({ kind }: FenceRow): boolean {
  return kind !== 'throttle';
}

/** The throttle in its current window. Windows are aligned to the clock, like the windows of budgets. */
export function inWindow(fence: FenceRow, nowMs: number): FenceRow {
  const { windowSeconds, windowEndsAtMs } = fence;
  if (windowSeconds === null || (windowEndsAtMs !== null && nowMs < windowEndsAtMs)) return fence;
  const windowMs = windowSeconds * 1_000;
  return { ...fence, callsTaken: 0, windowEndsAtMs: (Math.floor(nowMs / windowMs) + 1) * windowMs };
}

export function withOneMore(fence: FenceRow): FenceRow {
  return { ...fence, callsTaken: fence.callsTaken + 1 };
}
