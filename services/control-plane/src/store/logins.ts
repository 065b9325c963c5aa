import { SignInId, UserId } from '@countersign/contracts';
import { SignInStatement } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { Reader, Tx } from './database.ts';

/**
 * `asked`: the browser was sent to the provider. `proven`: the provider answered, and a code must prove the owner of
 * the identity. The hash identifies the browser.
 */
const OidcLogin = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('asked'),
    connectionId: z.string(),
    nonce: z.string(),
    verifier: z.string(),
    browserHash: z.string(),
  }),
  z.object({
    step: z.literal('proven'),
    connectionId: z.string(),
    issuer: z.string(),
    subject: z.string(),
    browserHash: z.string(),
  }),
]);

/**
 * `statement`: the text that a passkey must sign. `null` for a login without a passkey. `email`: the address for the
 * code. `null` for a login without a code, and when the code goes to the person of the session. `sessionId`: the
 * session whose person proves presence again.
 */
type OpenLogin = {
  email: string | null;
  sessionId: SignInId | null;
  statement: SignInStatement | null;
  oidc: z.infer<typeof OidcLogin> | null;
};
export type NewLogin = OpenLogin & { idHash: string; userId: UserId | null; createdAt: Date; expiresAt: Date };

export async function insertLogin(tx: Tx, { statement, oidc, ...login }: NewLogin): Promise<void> {
  const optional = { ...(statement === null ? {} : { statement }), ...(oidc === null ? {} : { oidc }) };
  await tx.login.create({ data: { ...login, ...optional } });
}

/** A login that can still be completed. */
export async function findOpenLogin(
  reader: Reader,
  idHash: string,
  now: Date,
): Promise<(OpenLogin & { expiresAt: Date }) | null> {
  const row = await reader.login.findUnique({
    where: { idHash, finishedAt: null, expiresAt: { gt: now } },
    select: { email: true, sessionId: true, statement: true, oidc: true, expiresAt: true },
  });
  if (row === null) return null;
  return {
    email: row.email,
    expiresAt: row.expiresAt,
    oidc: OidcLogin.nullable().parse(row.oidc),
    sessionId: SignInId.nullable().parse(row.sessionId),
    statement: SignInStatement.nullable().parse(row.statement),
  };
}

/** True for the one request that may act on a login. */
export async function finishLogin(
  tx: Tx,
  { idHash, userId }: { idHash: string; userId: UserId | null },
  now: Date,
): Promise<boolean> {
  const { count } = await tx.login.updateMany({
    where: { idHash, finishedAt: null },
    data: { finishedAt: now, userId },
  });
  return count === 1;
}

/** Stores the owner of the address to which a code was sent, so that refused proofs can be reported to them. */
export async function nameLogin(tx: Tx, { idHash, userId }: { idHash: string; userId: UserId | null }): Promise<void> {
  await tx.login.updateMany({ where: { idHash, finishedAt: null }, data: { userId } });
}

/** Counts one more refused proof of a login. */
export async function countRefusal(tx: Tx, idHash: string): Promise<void> {
  await tx.login.updateMany({ where: { idHash }, data: { refused: { increment: 1 } } });
}

type RefusedLogin = { idHash: string; userId: UserId; refused: number; createdAt: Date };

/** Expired logins of known people with refused proofs, oldest first. */
export async function listRefusedLogins(reader: Reader, now: Date, limit: number): Promise<RefusedLogin[]> {
  const rows = await reader.login.findMany({
    where: { expiresAt: { lt: now }, refused: { gt: 0 }, userId: { not: null } },
    orderBy: { expiresAt: 'asc' },
    take: limit,
  });
  return rows.map(({ userId, ...row }) => ({ ...row, userId: UserId.parse(userId) }));
}

/** `true` for the one caller that removed the login. A login that was refused again since it was read stays. */
export async function removeRefusedLogin(tx: Tx, { idHash, refused }: RefusedLogin): Promise<boolean> {
  const { count } = await tx.login.deleteMany({ where: { idHash, refused } });
  return count === 1;
}

/** Removes expired logins, unless refusals must still be reported. */
export async function forgetLogins(tx: Tx, now: Date): Promise<void> {
  await tx.login.deleteMany({ where: { expiresAt: { lt: now }, OR: [{ refused: 0 }, { userId: null }] } });
}
