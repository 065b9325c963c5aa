import type { Fence } from '@countersign/contracts/governance-kernel';

/** A stop as it was commanded, or as the kernel has it. `open` stops nothing. */
type Stopping = {
  kind: 'freeze' | 'throttle' | 'quarantine' | 'open';
  callLimit: number | null;
  windowSeconds: number | null;
  /** `null` when the stop lasts until it is lifted. */
  expiresAt: Date | null;
};

/**
 * Whether `wanted` would permit calls that `current` stops. Such a change is a resume: it requires a higher role and a
 * decision of the policy. A window of a different length starts its count from zero, so it loosens a throttle whatever
 * its limit.
 */
export function loosens(wanted: Stopping, current: Stopping, now: Date): boolean {
  if (current.kind === 'open' || hasEnded(current, now)) return false;
  if (wanted.kind === 'open' || endsSooner(wanted, current)) return true;
  if (wanted.kind !== 'throttle') return false;
  if (current.kind !== 'throttle') return true;
  return wanted.windowSeconds !== current.windowSeconds || (wanted.callLimit ?? 0) > (current.callLimit ?? 0);
}

function hasEnded({ expiresAt }: Stopping, now: Date): boolean {
  return expiresAt !== null && expiresAt.getTime() <= now.getTime();
}

function endsSooner(wanted: Stopping, current: Stopping): boolean {
  if (wanted.expiresAt === null) return false;
  return current.expiresAt === null || wanted.expiresAt.getTime() < current.expiresAt.getTime();
}

/** A fence as the kernel reports it. */
export function stoppingOf({
  kind,
  call_limit: callLimit,
  window_seconds: windowSeconds,
  expires_at,
}: Fence): Stopping {
  return { kind, callLimit, windowSeconds, expiresAt: expires_at === null ? null : new Date(expires_at) };
}
