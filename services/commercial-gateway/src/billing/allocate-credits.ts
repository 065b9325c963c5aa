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
 * Allocates credits to an amount that is due. Grants are used in the order of their expiry, and grants without expiry
 * last. When grants expire together, the older one is used first. Expired grants and grants in another currency are
 * never used.
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

function byExpiry(a: SpendableGrant, b: SpendableGrant): number {
  const [first, second] = [sortTime(a), sortTime(b)];
  if (first !== second) return first < second ? -1 : 1;
  const age = a.createdAt.getTime() - b.createdAt.getTime();
  if (age !== 0) return age;
  return a.id < b.id ? -1 : 1;
}

function sortTime({ expiresAt }: SpendableGrant): number {
  return expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
}
