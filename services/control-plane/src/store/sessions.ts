import { ProofMethod, SignInId, UserId, WorkspaceId } from '@countersign/contracts';
import { Role } from '@countersign/contracts/gateway';
import type { Reader, Tx } from './database.ts';

/** The one workspace of a program, and its highest role there. */
export type Within = { workspaceId: WorkspaceId; role: Role };

export type StoredSession = {
  id: SignInId;
  userId: UserId;
  /** The name that the browser or the program sends, and its address. */
  client: string;
  address: string;
  /** `null` for a browser, which may use all workspaces of the person. */
  within: Within | null;
  methods: ProofMethod[];
  provenAt: Date;
  createdAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
};

type SessionRow = Omit<StoredSession, 'id' | 'userId' | 'methods' | 'within'> & {
  id: string;
  userId: string;
  methods: string[];
  workspaceId: string | null;
  role: string | null;
};

export async function insertSession(tx: Tx, { within, ...session }: StoredSession): Promise<void> {
  await tx.session.create({
    data: { ...session, workspaceId: within?.workspaceId ?? null, role: within?.role ?? null },
  });
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
  // Expired tokens are deleted only when the next one is issued. The last one stays, since it identifies the earlier
  // session of a browser that signs in again.
  await tx.accessToken.deleteMany({ where: { sessionId, expiresAt: { lt: issuedAt } } });
  await tx.accessToken.create({ data: { hash: accessHash, sessionId, expiresAt: accessExpiresAt } });
  await tx.refreshToken.create({ data: { hash: refreshHash, sessionId, issuedAt } });
}

export async function findSession(reader: Reader, id: SignInId): Promise<StoredSession | null> {
  const row = await reader.session.findUnique({ where: { id } });
  return row === null ? null : sessionOf(row);
}

/** The most sessions of a person that are listed. */
const toldMax = 100;

/** The live sessions of a person, newest first, of browsers or of programs. */
export async function listLiveOf(
  reader: Reader,
  { userId, kind }: { userId: UserId; kind: 'browser' | 'device' },
  now: Date,
): Promise<StoredSession[]> {
  const workspaceId = kind === 'browser' ? null : { not: null };
  const rows = await reader.session.findMany({
    where: { userId, workspaceId, endedAt: null, expiresAt: { gt: now } },
    orderBy: { id: 'desc' },
    take: toldMax,
  });
  return rows.map(sessionOf);
}

/**
 * Open sessions of a person that began at `before` or earlier, and those of programs that a session from that time
 * authorized. They are ordered, so that all callers lock them in one order.
 */
export async function listOpenedBefore(
  reader: Reader,
  { userId, before }: { userId: UserId; before: Date },
): Promise<StoredSession[]> {
  const began = { lte: before };
  const ofThatTime = [{ createdAt: began }, { workspaceId: { not: null }, provenAt: began }];
  const where = { userId, endedAt: null, OR: ofThatTime };
  return (await reader.session.findMany({ where, orderBy: { id: 'asc' } })).map(sessionOf);
}

/** The sessions among these that are still live. */
export async function listLiveAmong(reader: Reader, ids: readonly SignInId[], now: Date): Promise<SignInId[]> {
  const rows = await reader.session.findMany({
    where: { id: { in: [...ids] }, endedAt: null, expiresAt: { gt: now } },
    select: { id: true },
  });
  return rows.map(({ id }) => SignInId.parse(id));
}

/** The session of an access token that has not expired. */
export async function findByAccessToken(reader: Reader, hash: string, now: Date): Promise<StoredSession | null> {
  const row = await reader.accessToken.findUnique({
    where: { hash, expiresAt: { gt: now } },
    include: { session: true },
  });
  return row === null ? null : sessionOf(row.session);
}

/** The browser session of this access token, even when the token has expired. */
export async function findBrowserSession(reader: Reader, hash: string): Promise<StoredSession | null> {
  const row = await reader.accessToken.findUnique({ where: { hash }, include: { session: true } });
  return row === null || row.session.workspaceId !== null ? null : sessionOf(row.session);
}

type StoredRefreshToken = { hash: string; spentAt: Date | null; session: StoredSession };

/** A refresh token and its session. Renewals and ends of the session wait until the transaction is over. */
export async function lockRefreshToken(tx: Tx, hash: string): Promise<StoredRefreshToken | null> {
  const existing = await tx.refreshToken.findUnique({ where: { hash } });
  if (existing === null) return null;
  await lockSession(tx, existing.sessionId);
  const row = await tx.refreshToken.findUnique({ where: { hash }, include: { session: true } });
  return row === null ? null : { hash, spentAt: row.spentAt, session: sessionOf(row.session) };
}

export async function spendRefreshToken(tx: Tx, { hash }: StoredRefreshToken, now: Date): Promise<void> {
  await tx.refreshToken.update({ where: { hash }, data: { spentAt: now } });
}

export async function extendSession(tx: Tx, { id }: StoredSession, expiresAt: Date): Promise<void> {
  await tx.session.update({ where: { id }, data: { expiresAt } });
}

/** Records that the person of a session has proven presence again. `false` when the session ended in the meantime. */
export async function markProven(
  tx: Tx,
  { id, methods }: Pick<StoredSession, 'id' | 'methods'>,
  now: Date,
): Promise<boolean> {
  await lockSession(tx, id);
  const { count } = await tx.session.updateMany({ where: { id, endedAt: null }, data: { methods, provenAt: now } });
  return count === 1;
}

/** `true` for the one request that ended the session. */
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
 * Removes sessions that expired before then, with all of their tokens. Also removes refresh tokens that were used so
 * long ago that their theft would have been noticed.
 */
export async function forgetSessions(tx: Tx, before: Date): Promise<void> {
  await tx.session.deleteMany({ where: { expiresAt: { lt: before } } });
  await tx.refreshToken.deleteMany({ where: { spentAt: { lt: before } } });
}

async function lockSession(tx: Tx, id: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM sessions WHERE id = ${id} FOR UPDATE`;
}

function sessionOf(row: SessionRow): StoredSession {
  const { id, userId, methods, workspaceId, role, client, address, provenAt, createdAt, expiresAt, endedAt } = row;
  return {
    id: SignInId.parse(id),
    userId: UserId.parse(userId),
    methods: methods.map((method) => ProofMethod.parse(method)),
    within: workspaceId === null ? null : { workspaceId: WorkspaceId.parse(workspaceId), role: Role.parse(role) },
    ...{ client, address, provenAt, createdAt, expiresAt, endedAt },
  };
}
