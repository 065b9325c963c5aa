import { instantOf, SignInId, type UserId } from '@countersign/contracts';
import type { Session, User } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';
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

/** The start of the first session of a family, since a rotation proves no presence. */
export async function findSignedInAt(reader: Reader, familyId: string): Promise<Date> {
  const { createdAt } = await reader.session.findUniqueOrThrow({
    where: { id: familyId },
    select: { createdAt: true },
  });
  return createdAt;
}

/** The live session of a family, which has no successor yet. */
const heir = (now: Date) => ({ revokedAt: null, rotatedAt: null, expiresAt: { gt: now } });

export async function listSessionsOf(
  reader: Reader,
  { user, familyId: current, now }: Pick<StoredSession, 'user' | 'familyId'> & { now: Date },
  request: PageRequest,
): Promise<Page<Session>> {
  const rows = await reader.session.findMany({
    where: { userId: user.id, familyId: olderThan(request), ...heir(now) },
    orderBy: { familyId: 'desc' },
    take: request.limit + 1,
  });
  const firsts = await reader.session.findMany({ where: { id: { in: rows.map(({ familyId }) => familyId) } } });
  const begins = new Map(firsts.map(({ id, createdAt }) => [id, createdAt]));
  const item = ({ familyId, createdAt, expiresAt }: (typeof rows)[number]): Session => ({
    id: SignInId.parse(familyId),
    signedInAt: instantOf(begins.get(familyId) ?? createdAt),
    renewedAt: instantOf(createdAt),
    expiresAt: instantOf(expiresAt),
    current: familyId === current,
  });
  return pageOf(rows, request, { item, key: (row) => row.familyId });
}

/** Whether a sign-in of this person still has a live session. */
export async function isLiveFamilyOf(
  tx: Tx,
  { userId, familyId, now }: { userId: string; familyId: string; now: Date },
): Promise<boolean> {
  if (!SignInId.safeParse(familyId).success) return false;
  return (await tx.session.count({ where: { userId, familyId, ...heir(now) } })) > 0;
}

/**
 * Removes sign-ins that ended long ago. Whole families are removed, since a rotation locks the first session of its
 * family.
 */
export async function forgetSessions(tx: Tx, before: Date): Promise<void> {
  const at = before.toISOString();
  await tx.$executeRaw`
    DELETE FROM sessions ended WHERE expires_at < ${at}::timestamptz
      AND NOT EXISTS (SELECT FROM sessions later WHERE later.family_id = ended.family_id AND later.expires_at >= ${at}::timestamptz)`;
}

/** `true` for the one request that may create the successor. Parallel requests get `false`. */
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
 * Ends all live sessions of these people. A concurrent rotation waits for the lock on the first session of its family,
 * and then finds it revoked.
 */
export async function revokeSessionsOf(
  tx: Tx,
  userIds: readonly UserId[],
  { now, reason }: { now: Date; reason: string },
): Promise<void> {
  const at = now.toISOString();
  await tx.$executeRaw`
    SELECT FROM sessions WHERE id IN (
      SELECT family_id FROM sessions
       WHERE user_id = ANY (${userIds}) AND revoked_at IS NULL AND expires_at > ${at}::timestamptz)
     ORDER BY id FOR UPDATE`;
  // One array, since a statement has at most 65,535 parameters and a domain can have more people.
  await tx.$executeRaw`
    UPDATE sessions SET revoked_at = ${at}::timestamptz, revoke_reason = ${reason}
     WHERE user_id = ANY (${userIds}) AND revoked_at IS NULL`;
}

/**
 * Serialises rotation and revocation of one family by a lock on its first session. Otherwise a revocation would miss
 * the successor that a rotation is about to commit.
 */
async function lockFamily(tx: Tx, familyId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE id = ${familyId} FOR UPDATE`;
}
