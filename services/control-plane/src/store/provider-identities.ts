import { createHash } from 'node:crypto';
import { UserId } from '@countersign/contracts';
import type { ProviderIdentity } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

/** The identity at a provider: only its issuer and subject. */
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

/** `false` when the identity is already linked. */
export async function insertProviderIdentity(tx: Tx, identity: NewIdentity): Promise<boolean> {
  const { count } = await tx.providerIdentity.createMany({ data: identity, skipDuplicates: true });
  return count === 1;
}

export async function recordProviderIdentityUse(tx: Tx, { issuer, subject }: IdentityKey, now: Date): Promise<void> {
  await tx.providerIdentity.updateMany({ where: { issuer, subject }, data: { signedInAt: now } });
}

/** The most identities of a person that are listed. */
const listedMax = 100;

export type StoredIdentity = IdentityKey & {
  id: string;
  userId: UserId;
  connectionId: string;
  linkedAt: Date;
  signedInAt: Date | null;
};

/** The identities of one person, newest first. */
export async function listIdentitiesOf(reader: Reader, userId: UserId): Promise<StoredIdentity[]> {
  const rows = await reader.providerIdentity.findMany({
    where: { userId },
    orderBy: { linkedAt: 'desc' },
    take: listedMax,
  });
  return rows.map(identityOf);
}

/** `true` for the one caller that removed the identity. */
export async function removeIdentity(tx: Tx, { issuer, subject, userId }: StoredIdentity): Promise<boolean> {
  const { count } = await tx.providerIdentity.deleteMany({ where: { issuer, subject, userId } });
  return count === 1;
}

function identityOf({ userId, issuer, subject, ...times }: ProviderIdentity): StoredIdentity {
  const hash = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url');
  return { ...{ id: `idp.${hash}`, issuer, subject, userId: UserId.parse(userId) }, ...times };
}
