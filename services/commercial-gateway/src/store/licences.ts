import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

type StoredLicence = { id: string; orgId: OrgId; text: string; activatedBy: string; activatedAt: Date };

/** Returns the last activated licence. It may have expired. */
export async function findCurrentLicence(reader: Reader, orgId: OrgId): Promise<{ id: string; text: string } | null> {
  return reader.licence.findFirst({ where: { orgId, replacedAt: null }, select: { id: true, text: true } });
}

/**
 * Makes a licence the current one of its organisation. Returns false when any organisation has activated a licence with
 * this ID. The caller must hold the lock of the billing account.
 */
export async function replaceLicence(tx: Tx, licence: StoredLicence): Promise<boolean> {
  const { orgId, activatedAt } = licence;
  await tx.licence.updateMany({ where: { orgId, replacedAt: null }, data: { replacedAt: activatedAt } });
  const { count } = await tx.licence.createMany({ data: licence, skipDuplicates: true });
  return count === 1;
}
