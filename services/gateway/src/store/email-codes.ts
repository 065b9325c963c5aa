import type { Tx } from './database.ts';

export type LiveCode = {
  id: string;
  email: string;
  codeHmac: string;
  /** The invite that was accepted for the address last. */
  inviteId: string | null;
  inviteCodeHmac: string | null;
  tries: number;
  expiresAt: Date;
};

/** Serialises all that happens to the codes of one address until the transaction ends, known address or not. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('email-code:' || ${email}, 0))`;
}

/** How often the address was sent a code. */
export async function countSendsSince(tx: Tx, email: string, since: Date): Promise<number> {
  const { _sum } = await tx.emailCode.aggregate({ where: { email, createdAt: { gt: since } }, _sum: { sends: true } });
  return _sum.sends ?? 0;
}

export async function countSend(tx: Tx, codeId: string): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { sends: { increment: 1 } } });
}

/** Ends the live code of the address, if any, and stores the new one. */
export async function replaceLiveCode(
  tx: Tx,
  code: { id: string; email: string; codeHmac: string; createdAt: Date; expiresAt: Date },
): Promise<void> {
  const { id, email, codeHmac, createdAt, expiresAt } = code;
  await tx.emailCode.updateMany({ where: { email, endedAt: null }, data: { endedAt: createdAt } });
  await tx.emailCode.create({ data: { id, email, codeHmac, createdAt, expiresAt } });
}

/** From now on the live code has a second form, which joins by this invite; one of an invite before it is no code any more. */
export async function putInviteCode(
  tx: Tx,
  codeId: string,
  { inviteId, inviteCodeHmac }: { inviteId: string; inviteCodeHmac: string },
): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { inviteId, inviteCodeHmac } });
}

/** Under the lock of the address. */
export function findLiveCode(tx: Tx, email: string): Promise<LiveCode | null> {
  return tx.emailCode.findFirst({ where: { email, endedAt: null } });
}

export async function countTry(tx: Tx, codeId: string): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { tries: { increment: 1 } } });
}

export async function endCode(tx: Tx, codeId: string, now: Date): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { endedAt: now } });
}
