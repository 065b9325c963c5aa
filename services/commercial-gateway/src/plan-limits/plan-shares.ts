/**
 * The share of a workspace. `limit` is its part of the plan's limit, and `used` the calls that the kernel counted or
 * reserved this month.
 */
type Share = { readonly limit: number | null; readonly used: number };

/**
 * Divides a limit into shares. Each workspace keeps its usage and gets an equal part of the rest. The sum is the limit,
 * unless the usage exceeds it. `null` when the current shares can stay.
 */
export function nextShares(limit: number, shares: readonly Share[]): number[] | null {
  const used = shares.reduce((sum, share) => sum + share.used, 0);
  const rest = Math.max(0, limit - used);
  const fraction = Math.floor(rest / shares.length);
  const extra = rest - fraction * shares.length;
  if (isWhole(limit, shares) && shares.every((share) => leftOf(share) >= fraction / 2)) return null;
  return shares.map((share, nth) => share.used + fraction + (nth < extra ? 1 : 0));
}

/** Returns how much may be added to shares now, so that all workspaces together stay within the limit. */
export function roomFor(limit: number, shares: readonly number[]): number {
  return Math.max(
    0,
    shares.reduce((remaining, share) => remaining - share, limit),
  );
}

/** Returns the most calls that a workspace can reach: its share, or its usage when the usage is higher. */
export function reachOf({ limit, used }: Share): number {
  return limit === null ? Infinity : Math.max(limit, used);
}

function leftOf({ limit, used }: Share): number {
  return limit === null ? Infinity : limit - used;
}

function isWhole(limit: number, shares: readonly Share[]): boolean {
  return shares.reduce((sum, share) => sum + reachOf(share), 0) === limit;
}
