import type { EvidenceSigner } from '../evidence-signer.ts';
import type { KernelConfig } from '../kernel-config.ts';
import type { Signers } from '../signers.ts';
import type { Transaction } from './database.ts';
import { assertSigningKeys, recordSigningKeys, type TrustKeyRow } from './trust-key-store.ts';
import { recordEvidenceKeys } from './envelope-store.ts';

type Deps = {
  signers: Signers;
  config: Pick<KernelConfig, 'logOrigin'>;
  publishedKeys: { newest(): Promise<object | null>; list(): Promise<TrustKeyRow[]> };
  /** `null` when no envelopes are signed. */
  evidenceSigner: EvidenceSigner | null;
  transaction: Transaction;
  clock: () => Date;
};

/**
 * Publishes the kernel's keys. If there is a trust list, it must contain the signing keys already, since only the root
 * adds keys to a list. Throws when it does not.
 */
export async function publishOwnKeys({
  signers,
  evidenceSigner,
  config,
  publishedKeys,
  transaction,
  clock,
}: Deps): Promise<void> {
  const keys = ownKeys(signers, config.logOrigin);
  if ((await publishedKeys.newest()) === null) await transaction((tx) => recordSigningKeys(tx, keys, clock()));
  else assertSigningKeys(await publishedKeys.list(), keys, clock());
  if (evidenceSigner !== null) await transaction((tx) => recordEvidenceKeys(tx, evidenceSigner, clock()));
}

function ownKeys(signers: Signers, logOrigin: string) {
  return (['receipts', 'policies', 'log'] as const).map((purpose) => ({
    keyId: signers[purpose].keyId,
    publicKey: signers[purpose].publicKey,
    purpose,
    logOrigin: purpose === 'log' ? logOrigin : null,
  }));
}
