import { SignInId } from '@countersign/contracts';
import type { Session, User } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { instant } from './instant.ts';
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

/** The start of a family of sessions, since a rotation proves no presence. */
export async function findSignedInAt(reader: Reader, familyId: string): Promise<Date> {
  const { createdAt } = await reader.session.findUniqueOrThrow({
    where: { id: familyId },
    select: { createdAt: true },
  });
  return createdAt;
}

/** The session of a family that has no successor yet and still opens something. */
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
    signedInAt: instant(begins.get(familyId) ?? createdAt),
    renewedAt: instant(createdAt),
    expiresAt: instant(expiresAt),
    current: familyId === current,
  });
  return pageOf(rows, request, { item, key: (row) => row.familyId });
}

/** Whether a sign-in of this person still opens something. */
export async function isLiveFamilyOf(
  tx: Tx,
  { userId, familyId, now }: { userId: string; familyId: string; now: Date },
): Promise<boolean> {
  if (!SignInId.safeParse(familyId).success) return false;
  return (await tx.session.count({ where: { userId, familyId, ...heir(now) } })) > 0;
}

/** Removes sign-ins that opened nothing for long. Whole families go: a rotation waits at the first session of its own. */
export async function forgetSessions(tx: Tx, before: Date): Promise<void> {
  const at = before.toISOString();
  await tx.$executeRaw`
    DELETE FROM sessions ended WHERE expires_at < ${at}::timestamptz
      AND NOT EXISTS (SELECT FROM sessions later WHERE later.family_id = ended.family_id AND later.expires_at >= ${at}::timestamptz)`;
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

/** Ends all sessions of a person. A rotation waits at the first session of its family, and finds it revoked. */
export async function revokeSessionsOf(
  tx: Tx,
  userId: string,
  { now, reason }: { now: Date; reason: string },
): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE user_id = ${userId} AND id = family_id ORDER BY id FOR UPDATE`;
  await tx.session.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt: now, revokeReason: reason } });
}

/**
 * Rotation and revocation of one family wait for each other at its first session. Without it a revocation would not see, and not
 * revoke, the successor that a rotation is about to commit.
 */
async function lockFamily(tx: Tx, familyId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE id = ${familyId} FOR UPDATE`;
}
