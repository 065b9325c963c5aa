/** A workspace with its share of the limit, and the calls that the kernel counted or reserved this month. */
type Share = { readonly limit: number | null; readonly used: number };

/**
 * The shares of one limit: each workspace keeps what it used and gets an equal part of the rest. Their sum is the limit, unless more than the
 * limit is used. `null`: the shares can stay.
 */
export function nextShares(limit: number, shares: readonly Share[]): number[] | null {
  const used = shares.reduce((sum, share) => sum + share.used, 0);
  const rest = Math.max(0, limit - used);
  const part = Math.floor(rest / shares.length);
  const extra = rest - part * shares.length;
  if (isWhole(limit, shares) && shares.every((share) => leftOf(share) >= part / 2)) return null;
  return shares.map((share, nth) => share.used + part + (nth < extra ? 1 : 0));
}

/** How much may be added to shares now, so that no two workspaces together exceed the limit while other shares are being lowered. */
export function roomFor(limit: number, held: readonly number[]): number {
  return Math.max(
    0,
    held.reduce((left, share) => left - share, limit),
  );
}

/** The calls that a workspace can reach: its share, or its usage when that is more. */
export function reachOf({ limit, used }: Share): number {
  return limit === null ? Infinity : Math.max(limit, used);
}

function leftOf({ limit, used }: Share): number {
  return limit === null ? Infinity : limit - used;
}

function isWhole(limit: number, shares: readonly Share[]): boolean {
  return shares.reduce((sum, share) => sum + reachOf(share), 0) === limit;
}
