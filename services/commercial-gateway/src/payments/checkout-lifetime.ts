/** The shortest time that Stripe accepts is 30 minutes; a payer who fetches a card needs less than this. */
const checkoutMs = 3_600_000;

/** The page of a checkout closes then. */
export function checkoutExpiresAt(createdAt: Date): Date {
  return new Date(createdAt.getTime() + checkoutMs);
}

/** Checkouts that were created before this time are closed. */
export function checkoutsClosedBefore(now: Date): Date {
  return new Date(now.getTime() - checkoutMs);
}
