import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

export type StoredDomain = { domain: string; challenge: string; claimedAt: Date; verifiedAt: Date | null };

export async function listClaimedDomains(reader: Reader, orgId: OrgId): Promise<StoredDomain[]> {
  return reader.claimedDomain.findMany({ where: { orgId }, orderBy: { domain: 'asc' }, omit: { orgId: true } });
}

/** Returns the domains that the organisation verified by DNS. */
export async function listVerifiedDomains(reader: Reader, orgId: OrgId): Promise<string[]> {
  const rows = await reader.claimedDomain.findMany({ where: { orgId, verifiedAt: { not: null } } });
  return rows.map(({ domain }) => domain);
}

type Claims = { orgId: OrgId; domains: readonly string[]; newChallenge: () => string; now: Date };

/** Replaces the claimed domains. A domain that is already claimed keeps its challenge. */
export async function keepDomains(tx: Tx, { orgId, domains, newChallenge, now }: Claims): Promise<void> {
  await tx.claimedDomain.deleteMany({ where: { orgId, domain: { notIn: [...domains] } } });
  const data = domains.map((domain) => ({ orgId, domain, challenge: newChallenge(), claimedAt: now }));
  await tx.claimedDomain.createMany({ data, skipDuplicates: true });
}

type Proven = { orgId: OrgId; proven: readonly Pick<StoredDomain, 'domain' | 'challenge'>[]; now: Date };

/**
 * Rejects with a unique violation when another organisation has verified a domain. A claim whose challenge has changed
 * stays pending.
 */
export async function markVerified(tx: Tx, { orgId, proven, now }: Proven): Promise<void> {
  for (const { domain, challenge } of proven)
    await tx.claimedDomain.updateMany({
      where: { orgId, domain, challenge, verifiedAt: null },
      data: { verifiedAt: now },
    });
}
