import { UserId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';

/** Who somebody is at a provider: the issuer's name and what it calls them, and nothing else. */
type IdentityKey = { issuer: string; subject: string };

export async function findProviderIdentity(
  reader: Reader,
  { issuer, subject }: IdentityKey,
): Promise<{ userId: UserId } | null> {
  const where = { issuer_subject: { issuer, subject } };
  const row = await reader.providerIdentity.findUnique({ where, select: { userId: true } });
  return row === null ? null : { userId: UserId.parse(row.userId) };
}

type NewIdentity = IdentityKey & { userId: UserId; connectionId: string; linkedAt: Date };

/** False when it is somebody's already. */
export async function insertProviderIdentity(tx: Tx, identity: NewIdentity): Promise<boolean> {
  const { count } = await tx.providerIdentity.createMany({ data: identity, skipDuplicates: true });
  return count === 1;
}

export async function recordProviderIdentityUse(tx: Tx, { issuer, subject }: IdentityKey, now: Date): Promise<void> {
  await tx.providerIdentity.updateMany({ where: { issuer, subject }, data: { signedInAt: now } });
}
