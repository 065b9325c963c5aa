import type { FenceScope, Fence } from '@countersign/contracts/governance-kernel';
import type { PrincipalId } from '@countersign/contracts';

/**
 * The state of a scope after the latest command, and the calls that a throttle has let through. Times are milliseconds
 * since the epoch.
 */
export type FenceRow = {
  readonly scope: FenceScope;
  readonly kind: Fence['kind'];
  readonly reason: string;
  /** The epoch of the command; it only rises. */
  readonly epoch: number;
  readonly callLimit: number | null;
  readonly windowSeconds: number | null;
  readonly effectiveAtMs: number;
  readonly expiresAtMs: number | null;
  readonly setBy: PrincipalId;
  readonly callsTaken: number;
  /** Null: no call has come yet. */
  readonly windowEndsAtMs: number | null;
  /** How often calls were taken: a row of another revision was read too early. */
  readonly revision: number;
};

export function isInForce({ kind, expiresAtMs }: FenceRow, nowMs: number): boolean {
  return kind !== 'open' && (expiresAtMs === null || nowMs < expiresAtMs);
}

/** A throttle limits calls; every other fence stops them all, unknown kinds too. */
export function stopsEveryCall({ kind }: FenceRow): boolean {
  return kind !== 'throttle';
}

/** The throttle in its window of now. Windows stand on the clock, as those of budgets do. */
export function inWindow(fence: FenceRow, nowMs: number): FenceRow {
  const { windowSeconds, windowEndsAtMs } = fence;
  if (windowSeconds === null || (windowEndsAtMs !== null && nowMs < windowEndsAtMs)) return fence;
  const windowMs = windowSeconds * 1_000;
  return { ...fence, callsTaken: 0, windowEndsAtMs: (Math.floor(nowMs / windowMs) + 1) * windowMs };
}

export function withOneMore(fence: FenceRow): FenceRow {
  return { ...fence, callsTaken: fence.callsTaken + 1 };
}
