import { CreditGrantId } from '@countersign/contracts';
import { CreditGrantKind } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { CreditAllocation } from '../billing/allocate-credits.ts';
import type { CreditGrantModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredCreditGrant = Omit<CreditGrantModel, 'id' | 'orgId' | 'kind'> & {
  id: CreditGrantId;
  orgId: OrgId;
  kind: CreditGrantKind;
};

export async function insertCreditGrant(tx: Tx, grant: StoredCreditGrant): Promise<void> {
  await tx.creditGrant.create({ data: grant });
}

export async function findCreditGrant(reader: Reader, orgId: OrgId, id: string): Promise<StoredCreditGrant | null> {
  const row = await reader.creditGrant.findFirst({ where: { orgId, id } });
  return row === null ? null : grantOf(row);
}

/** Returns the grants with a remaining amount, including expired ones. */
export async function listCreditGrants(reader: Reader, orgId: OrgId, currency: string): Promise<StoredCreditGrant[]> {
  const where = { orgId, currency, remainingMinor: { gt: 0 } };
  return (await reader.creditGrant.findMany({ where, orderBy: { id: 'asc' } })).map(grantOf);
}

/** Returns the unexpired grants with a remaining amount, in all currencies, oldest first. */
export async function listUsableCredits(
  reader: Reader,
  orgId: OrgId,
  { now, limit }: { now: Date; limit: number },
): Promise<StoredCreditGrant[]> {
  const where = { orgId, remainingMinor: { gt: 0 }, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
  return (await reader.creditGrant.findMany({ where, orderBy: { id: 'asc' }, take: limit })).map(grantOf);
}

/** Decreases the remaining amount of each grant. Throws when a grant has too little left. */
export async function spendCredits(
  tx: Tx,
  orgId: OrgId,
  allocations: readonly CreditAllocation<{ id: CreditGrantId }>[],
): Promise<void> {
  for (const { grant, amountMinor } of allocations) {
    const { count } = await tx.creditGrant.updateMany({
      where: { id: grant.id, orgId, remainingMinor: { gte: amountMinor } },
      data: { remainingMinor: { decrement: amountMinor } },
    });
    if (count !== 1) throw new Error(`Credit grant ${grant.id} has less than ${amountMinor} left`);
  }
}

/** Returns an amount to a grant after its use was reversed. */
export async function restoreCredits(
  tx: Tx,
  orgId: OrgId,
  { id, amountMinor }: { id: string; amountMinor: bigint },
): Promise<void> {
  await tx.creditGrant.updateMany({ where: { id, orgId }, data: { remainingMinor: { increment: amountMinor } } });
}

/** Returns the expired grants with a remaining amount. */
export async function listExpiredCredits(reader: Reader, orgId: OrgId, now: Date): Promise<StoredCreditGrant[]> {
  const where = { orgId, expiresAt: { lte: now }, remainingMinor: { gt: 0 } };
  return (await reader.creditGrant.findMany({ where, orderBy: { id: 'asc' } })).map(grantOf);
}

function grantOf({ id, orgId, kind, ...rest }: CreditGrantModel): StoredCreditGrant {
  return { ...rest, id: CreditGrantId.parse(id), orgId: OrgId.parse(orgId), kind: CreditGrantKind.parse(kind) };
}
