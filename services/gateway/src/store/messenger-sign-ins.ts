import type { Tx } from './database.ts';

/** False when it was used before. */
export async function spendInitData(tx: Tx, spent: { hash: string; expiresAt: Date }): Promise<boolean> {
  const { count } = await tx.messengerSignIn.createMany({ data: spent, skipDuplicates: true });
  return count === 1;
}

/** Removes what its age alone refuses by now. */
export async function forgetInitData(tx: Tx, now: Date): Promise<void> {
  await tx.messengerSignIn.deleteMany({ where: { expiresAt: { lt: now } } });
}
