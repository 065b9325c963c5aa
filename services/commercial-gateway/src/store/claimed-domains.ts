import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader } from './database.ts';

/** Domains whose ownership the organisation proved by DNS. */
export async function listVerifiedDomains(reader: Reader, orgId: OrgId): Promise<string[]> {
  const rows = await reader.claimedDomain.findMany({ where: { orgId, verifiedAt: { not: null } } });
  return rows.map(({ domain }) => domain);
}
