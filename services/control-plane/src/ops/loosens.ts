import type { Fence } from '@countersign/contracts/governance-kernel';

/** A stop as it was commanded, or as the kernel holds it; `open` stops nothing. */
type Stopping = {
  kind: 'freeze' | 'throttle' | 'quarantine' | 'open';
  callLimit: number | null;
  windowSeconds: number | null;
  /** Null: until it is lifted. */
  expiresAt: Date | null;
};

/**
 * Whether `wanted` would let calls through that `standing` stops. Then it is no stop: to loosen one is to resume, which
 * fewer may do, and which the policy is asked for. Another window starts from zero, so it loosens a throttle whatever
 * its limit.
 */
export function loosens(wanted: Stopping, standing: Stopping, now: Date): boolean {
  if (standing.kind === 'open' || hasEnded(standing, now)) return false;
  if (wanted.kind === 'open' || endsSooner(wanted, standing)) return true;
  if (wanted.kind !== 'throttle') return false;
  if (standing.kind !== 'throttle') return true;
  return wanted.windowSeconds !== standing.windowSeconds || (wanted.callLimit ?? 0) > (standing.callLimit ?? 0);
}

function hasEnded({ expiresAt }: Stopping, now: Date): boolean {
  return expiresAt !== null && expiresAt.getTime() <= now.getTime();
}

function endsSooner(wanted: Stopping, standing: Stopping): boolean {
  if (wanted.expiresAt === null) return false;
  return standing.expiresAt === null || wanted.expiresAt.getTime() < standing.expiresAt.getTime();
}

/** A fence as the kernel tells it. */
export function stoppingOf({
  kind,
  call_limit: callLimit,
  window_seconds: windowSeconds,
  expires_at,
}: Fence): Stopping {
  return { kind, callLimit, windowSeconds, expiresAt: expires_at === null ? null : new Date(expires_at) };
}
