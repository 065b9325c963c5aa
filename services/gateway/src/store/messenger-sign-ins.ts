import type { Tx } from './database.ts';

/** `false` when the init data was used before. */
export async function spendInitData(tx: Tx, spent: { hash: string; expiresAt: Date }): Promise<boolean> {
  const { count } = await tx.messengerSignIn.createMany({ data: spent, skipDuplicates: true });
  return count === 1;
}

/** Removes init data that is refused for its age. */
export async function forgetInitData(tx: Tx, now: Date): Promise<void> {
  await tx.messengerSignIn.deleteMany({ where: { expiresAt: { lt: now } } });
}
