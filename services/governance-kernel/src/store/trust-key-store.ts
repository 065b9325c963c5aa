import type { TrustKeyModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type TrustKeyRow = TrustKeyModel;

/** Publishes the key that this process signs with; a key that is known keeps its window. */
export async function recordSigningKey(
  tx: Tx,
  key: { keyId: string; publicKey: Uint8Array },
  now: Date,
): Promise<void> {
  const data = { key_id: key.keyId, public_key: Uint8Array.from(key.publicKey), valid_from: now };
  await tx.trustKey.createMany({ data, skipDuplicates: true });
}

export function listTrustKeys(reader: Reader): Promise<TrustKeyRow[]> {
  return reader.trustKey.findMany({ orderBy: [{ valid_from: 'asc' }, { key_id: 'asc' }] });
}
