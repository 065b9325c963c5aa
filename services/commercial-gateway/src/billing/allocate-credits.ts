type SpendableGrant = {
  id: string;
  currency: string;
  remainingMinor: bigint;
  /** `null` when the grant does not expire. */
  expiresAt: Date | null;
  createdAt: Date;
};

export type CreditAllocation<Grant> = { grant: Grant; amountMinor: bigint };

/**
 * Allocates credits to an amount that is due. The grant that expires first is used first; grants without expiry are used last, and then
 * the older grant. Expired grants and grants in another currency are never used.
 */
export function allocateCredits<Grant extends SpendableGrant>(
  grants: readonly Grant[],
  due: { amountMinor: bigint; currency: string; now: Date },
): CreditAllocation<Grant>[] {
  let openMinor = due.amountMinor;
  return grants
    .filter(({ currency, expiresAt }) => currency === due.currency && !isExpired(expiresAt, due.now))
    .toSorted(byExpiry)
    .flatMap((grant) => {
      const amountMinor = grant.remainingMinor < openMinor ? grant.remainingMinor : openMinor;
      openMinor -= amountMinor;
      return amountMinor > 0n ? [{ grant, amountMinor }] : [];
    });
}

function isExpired(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function byExpiry(one: SpendableGrant, other: SpendableGrant): number {
  const [first, second] = [sortTime(one), sortTime(other)];
  if (first !== second) return first < second ? -1 : 1;
  const age = one.createdAt.getTime() - other.createdAt.getTime();
  if (age !== 0) return age;
  return one.id < other.id ? -1 : 1;
}

function sortTime({ expiresAt }: SpendableGrant): number {
  return expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
}
