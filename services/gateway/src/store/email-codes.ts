import type { Tx } from './database.ts';

export type LiveCode = {
  id: string;
  email: string;
  codeHmac: string;
  /** The invite that was accepted last for the address. */
  inviteId: string | null;
  inviteCodeHmac: string | null;
  tries: number;
  expiresAt: Date;
};

/** Serialises all changes to the codes of one address until the transaction ends, for known and unknown addresses. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('email-code:' || ${email}, 0))`;
}

/** The number of mails to the address with codes that were created after this time. */
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

/** Gives the live code a second form that joins by this invite. The form for an earlier invite becomes invalid. */
export async function putInviteCode(
  tx: Tx,
  codeId: string,
  { inviteId, inviteCodeHmac }: { inviteId: string; inviteCodeHmac: string },
): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { inviteId, inviteCodeHmac } });
}

/** The live code of an address. The caller must have locked the address. */
export function findLiveCode(tx: Tx, email: string): Promise<LiveCode | null> {
  return tx.emailCode.findFirst({ where: { email, endedAt: null } });
}

export async function countTry(tx: Tx, codeId: string): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { tries: { increment: 1 } } });
}

export async function endCode(tx: Tx, codeId: string, now: Date): Promise<void> {
  await tx.emailCode.update({ where: { id: codeId }, data: { endedAt: now } });
}
