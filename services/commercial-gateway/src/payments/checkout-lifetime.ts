/** Lifetime of a checkout. Stripe requires at least 30 minutes. */
const checkoutMs = 3_600_000;

/** Returns the time when the page of a checkout closes. */
export function checkoutExpiresAt(createdAt: Date): Date {
  return new Date(createdAt.getTime() + checkoutMs);
}

/** Returns a time: all checkouts that were created before it are closed now. */
export function checkoutsClosedBefore(now: Date): Date {
  return new Date(now.getTime() - checkoutMs);
}
