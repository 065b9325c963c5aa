import { ProofMethod, SignInId, UserId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';

export type StoredSession = {
  id: SignInId;
  userId: UserId;
  methods: ProofMethod[];
  provenAt: Date;
  createdAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
};

type SessionRow = Omit<StoredSession, 'id' | 'userId' | 'methods'> & { id: string; userId: string; methods: string[] };

export async function insertSession(tx: Tx, session: StoredSession): Promise<void> {
  await tx.session.create({ data: session });
}

type NewTokens = {
  sessionId: SignInId;
  accessHash: string;
  accessExpiresAt: Date;
  refreshHash: string;
  issuedAt: Date;
};

export async function insertTokens(tx: Tx, tokens: NewTokens): Promise<void> {
  const { sessionId, accessHash, accessExpiresAt, refreshHash, issuedAt } = tokens;
  await tx.accessToken.create({ data: { hash: accessHash, sessionId, expiresAt: accessExpiresAt } });
  await tx.refreshToken.create({ data: { hash: refreshHash, sessionId, issuedAt } });
}

export async function findSession(reader: Reader, id: SignInId): Promise<StoredSession | null> {
  const row = await reader.session.findUnique({ where: { id } });
  return row === null ? null : sessionOf(row);
}

/** The session of an access token that has not run out. */
export async function findByAccessToken(reader: Reader, hash: string, now: Date): Promise<StoredSession | null> {
  const row = await reader.accessToken.findUnique({
    where: { hash, expiresAt: { gt: now } },
    include: { session: true },
  });
  return row === null ? null : sessionOf(row.session);
}

type StoredRefreshToken = { hash: string; spentAt: Date | null; session: StoredSession };

/** A refresh token and its session. All that renews or ends the session waits here until the transaction is over. */
export async function lockRefreshToken(tx: Tx, hash: string): Promise<StoredRefreshToken | null> {
  const known = await tx.refreshToken.findUnique({ where: { hash } });
  if (known === null) return null;
  await lockSession(tx, known.sessionId);
  const row = await tx.refreshToken.findUnique({ where: { hash }, include: { session: true } });
  return row === null ? null : { hash, spentAt: row.spentAt, session: sessionOf(row.session) };
}

export async function spendRefreshToken(tx: Tx, { hash }: StoredRefreshToken, now: Date): Promise<void> {
  await tx.refreshToken.update({ where: { hash }, data: { spentAt: now } });
}

export async function extendSession(tx: Tx, { id }: StoredSession, expiresAt: Date): Promise<void> {
  await tx.session.update({ where: { id }, data: { expiresAt } });
}

/** True for the one request that ended it. */
export async function endSession(
  tx: Tx,
  { id }: Pick<StoredSession, 'id'>,
  { now, reason }: { now: Date; reason: string },
): Promise<boolean> {
  await lockSession(tx, id);
  const { count } = await tx.session.updateMany({
    where: { id, endedAt: null },
    data: { endedAt: now, endReason: reason },
  });
  return count === 1;
}

/**
 * Removes what opened nothing for long: sessions with all their tokens, access tokens that ran out, and refresh tokens that were spent so
 * long ago that their theft would have been noticed.
 */
export async function forgetSessions(tx: Tx, { before, now }: { before: Date; now: Date }): Promise<void> {
  await tx.session.deleteMany({ where: { expiresAt: { lt: before } } });
  await tx.refreshToken.deleteMany({ where: { spentAt: { lt: before } } });
  await tx.accessToken.deleteMany({ where: { expiresAt: { lt: now } } });
}

async function lockSession(tx: Tx, id: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE id = ${id} FOR UPDATE`;
}

function sessionOf({ id, userId, methods, provenAt, createdAt, expiresAt, endedAt }: SessionRow): StoredSession {
  return {
    id: SignInId.parse(id),
    userId: UserId.parse(userId),
    methods: methods.map((method) => ProofMethod.parse(method)),
    ...{ provenAt, createdAt, expiresAt, endedAt },
  };
}
