import type { Reader, Tx } from './database.ts';

type NewLogin = { idHash: string; email: string; createdAt: Date; expiresAt: Date };

export async function insertLogin(tx: Tx, login: NewLogin): Promise<void> {
  await tx.login.create({ data: login });
}

/** The address of a login that can still be finished. */
export async function findOpenLogin(reader: Reader, idHash: string, now: Date): Promise<{ email: string } | null> {
  return reader.login.findUnique({
    where: { idHash, finishedAt: null, expiresAt: { gt: now } },
    select: { email: true },
  });
}

/** True for the one request that may open the session of a login. */
export async function finishLogin(tx: Tx, idHash: string, now: Date): Promise<boolean> {
  const { count } = await tx.login.updateMany({ where: { idHash, finishedAt: null }, data: { finishedAt: now } });
  return count === 1;
}

/** Removes logins that can no longer be finished. */
export async function forgetLogins(tx: Tx, now: Date): Promise<void> {
  await tx.login.deleteMany({ where: { expiresAt: { lt: now } } });
}
