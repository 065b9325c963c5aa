import type { Checkpoint, getInclusionProof, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { z } from 'zod';
import type { ProofStore } from '../../store/heads-in.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import type { CountedHeads } from './counted-heads.ts';
import { provenIncluded } from './log-proofs.ts';
import { createLogReader } from './log-reader.ts';
import { witnessOf } from './witnesses.ts';

type InclusionProof = z.infer<typeof getInclusionProof.reply>;

type Log = ProofStore & {
  provider: CryptoProvider;
  listKeys(): Promise<TrustKeyRow[]>;
  headsBy(keys: readonly TrustKeyRow[]): CountedHeads;
};

export type ProveReceipt = (receipt: StoredReceipt) => Promise<InclusionProof>;

/**
 * Proves the place of a receipt in the log. A receipt without a covering checkpoint gets one, since a proof without a
 * signed head proves nothing.
 */
export function createReceiptProver(log: Log): ProveReceipt {
  const { provider } = log;
  return async (receipt) => {
    // A reader caches nodes, so it serves one answer: the log grows between answers.
    const nodes = createLogReader(provider, log.leaves);
    const checkpoint = await headFor(log, receipt);
    const { tree_size } = checkpoint;
    const { log_index } = receipt;
    return {
      ...{ receipt_id: receipt.payload.receipt_id, log_index, tree_size },
      hashes: await provenIncluded(provider, nodes, { index: log_index, size: tree_size }),
      checkpoint: await log.withCosignatures(checkpoint),
    };
  };
}

/** The newest checkpoint often has no cosignatures yet, so a cosigned one is preferred. */
async function headFor({ listKeys, headsBy, findCosigned }: Log, receipt: StoredReceipt): Promise<Checkpoint> {
  const keys = await listKeys();
  const heads = headsBy(keys);
  const newest = await heads.getCovering(receipt.log_index);
  const proving = await witnessOf({ receipt, record: null }, keys, { newest, findBefore: heads.findBefore });
  const cosigned = proving === newest ? await findCosigned(heads, receipt.log_index + 1) : null;
  return cosigned ?? proving;
}
