import { clockSkewMaxMs } from '@countersign/service-kit';
import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { TrustKeyModel } from '../generated/prisma/models.ts';
import { keyFaultAt, keyFaultText } from '../ledger/key-fault.ts';
import type { Reader, Tx } from './database.ts';

export type TrustKeyRow = Omit<TrustKeyModel, 'purpose'> & { purpose: KeyPurpose };

type SigningKey = { keyId: string; publicKey: Uint8Array; purpose: KeyPurpose; logOrigin: string | null };

/** Keys are valid from this long before their publication, so that a replica with a slow clock can sign at once. */
const clockAllowanceMs = 2 * clockSkewMaxMs;

/**
 * Publishes the signing keys of this process. A known key keeps its validity. Throws for a key that was published for
 * another purpose or log, or that is no longer valid, since its signatures would be refused.
 */
export async function recordSigningKeys(tx: Tx, keys: readonly SigningKey[], now: Date): Promise<void> {
  const data = keys.map(({ keyId, publicKey, purpose, logOrigin }) => ({
    key_id: keyId,
    public_key: Uint8Array.from(publicKey),
    purpose,
    log_origin: logOrigin,
    valid_from: new Date(now.getTime() - clockAllowanceMs),
  }));
  await tx.trustKey.createMany({ data, skipDuplicates: true });
  assertSigningKeys(await listTrustKeys(tx), keys, now);
}

/** Throws for a key that is not published for its purpose, or is not valid now. */
export function assertSigningKeys(existing: readonly TrustKeyRow[], keys: readonly SigningKey[], now: Date): void {
  for (const { keyId, purpose, logOrigin } of keys) {
    const row = existing.find(({ key_id }) => key_id === keyId);
    if (row === undefined)
      throw new Error(
        `The key ${keyId} for ${purpose} is not in the trust list: publish a list with it before this kernel uses it`,
      );
    if (row.purpose !== purpose || row.log_origin !== logOrigin)
      throw new Error(
        `The key ${keyId} was published for another purpose or another log: ${purpose} needs a key of its own`,
      );
    const fault = keyFaultAt(row, now);
    if (fault !== null)
      throw new Error(`The key ${keyId} for ${purpose} ${keyFaultText[fault]}: this kernel needs another key`);
  }
}

export async function listTrustKeys(reader: Reader | Tx): Promise<TrustKeyRow[]> {
  const rows = await reader.trustKey.findMany({ orderBy: [{ valid_from: 'asc' }, { key_id: 'asc' }] });
  return rows as TrustKeyRow[]; // a constraint of the table lists the purposes
}
