import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import {
  findCheckpoint,
  findLatestCheckpoint,
  listHeadsFrom,
  listHeadsUpTo,
  listLargestHeads,
  recordCheckpoint,
  type HeadPlace,
  type HeadSigner,
  type NewCheckpoint,
} from './checkpoint-store.ts';
import type { KernelDatabase } from './database.ts';
import { logSource } from './log-source.ts';
import { growLogTree } from './log-tree-store.ts';
import type { TrustKeyRow } from './trust-key-store.ts';
import { findCosigned, withCosignatures, type Counted } from './with-cosignatures.ts';

export type HeadStore = ReturnType<typeof headsIn>;

/** The tables of the log's heads, in the form that signing and searching needs. */
export function headsIn(
  { reader, transaction }: KernelDatabase,
  provider: CryptoProvider,
  listKeys: () => Promise<TrustKeyRow[]>,
) {
  return {
    growTree: () => growLogTree(transaction, provider),
    record: (checkpoint: NewCheckpoint) => recordCheckpoint(transaction, checkpoint),
    find: (id: string) => findCheckpoint(reader, id),
    findLatest: () => findLatestCheckpoint(reader),
    listLargest: (signers: readonly HeadSigner[], place: HeadPlace) => listLargestHeads(reader, signers, place),
    listUpTo: (heads: Parameters<typeof listHeadsUpTo>[1]) => listHeadsUpTo(reader, heads),
    listFrom: (heads: Parameters<typeof listHeadsFrom>[1]) => listHeadsFrom(reader, heads),
    listKeys,
  };
}

export type ProofStore = ReturnType<typeof proofsIn>;

/** The leaves of the log and the cosigned heads, for proofs. */
export function proofsIn({ reader }: Pick<KernelDatabase, 'reader'>, provider: CryptoProvider) {
  return {
    leaves: logSource(reader),
    findCosigned: (headsBy: Counted, size: number) => findCosigned({ reader, headsBy }, size),
    withCosignatures: (head: Checkpoint) => withCosignatures({ reader, provider }, head),
  };
}
