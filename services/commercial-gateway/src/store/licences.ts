import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

type StoredLicence = { id: string; orgId: OrgId; text: string; activatedBy: string; activatedAt: Date };

/** The licence that no other replaced. It may have expired. */
export async function findCurrentLicence(reader: Reader, orgId: OrgId): Promise<{ id: string; text: string } | null> {
  return reader.licence.findFirst({ where: { orgId, replacedAt: null }, select: { id: true, text: true } });
}

/**
 * Makes a licence the current one of its organisation. Returns false when a licence with this id was activated before, for whichever
 * organisation. The caller holds the lock of the billing account.
 */
export async function replaceLicence(tx: Tx, licence: StoredLicence): Promise<boolean> {
  const { orgId, activatedAt } = licence;
  await tx.licence.updateMany({ where: { orgId, replacedAt: null }, data: { replacedAt: activatedAt } });
  const { count } = await tx.licence.createMany({ data: licence, skipDuplicates: true });
  return count === 1;
}
