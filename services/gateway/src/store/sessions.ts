import type { User } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { userOf } from './users.ts';

export type SessionFacts = { createdAt: Date; expiresAt: Date; rotatedAt: Date | null; revokedAt: Date | null };
export type StoredSession = SessionFacts & { id: string; familyId: string; user: User };

type NewSession = { userId: string; tokenHash: string; createdAt: Date; expiresAt: Date; familyId?: string };

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const id = newId('ses');
  const { userId, tokenHash, createdAt, expiresAt, familyId = id } = session;
  await tx.session.create({ data: { id, familyId, userId, tokenHash, createdAt, expiresAt } });
}

export async function findSession(reader: Reader, tokenHash: string): Promise<StoredSession | null> {
  const row = await reader.session.findUnique({ where: { tokenHash }, include: { user: true } });
  if (row === null) return null;
  const { id, familyId, createdAt, expiresAt, rotatedAt, revokedAt } = row;
  return { id, familyId, createdAt, expiresAt, rotatedAt, revokedAt, user: userOf(row.user) };
}

/** True for the one request that may mint the successor; parallel ones get false. */
export async function markRotated(
  tx: Tx,
  { id, familyId }: Pick<StoredSession, 'id' | 'familyId'>,
  now: Date,
): Promise<boolean> {
  await lockFamily(tx, familyId);
  const { count } = await tx.session.updateMany({
    where: { id, rotatedAt: null, revokedAt: null },
    data: { rotatedAt: now },
  });
  return count === 1;
}

export async function revokeFamily(tx: Tx, familyId: string, revocation: { now: Date; reason: string }): Promise<void> {
  await lockFamily(tx, familyId);
  await tx.session.updateMany({
    where: { familyId, revokedAt: null },
    data: { revokedAt: revocation.now, revokeReason: revocation.reason },
  });
}

/**
 * Rotation and revocation of one family wait for each other at its first session. Without it a revocation would not see, and not
 * revoke, the successor that a rotation is about to commit.
 */
async function lockFamily(tx: Tx, familyId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE id = ${familyId} FOR UPDATE`;
}
