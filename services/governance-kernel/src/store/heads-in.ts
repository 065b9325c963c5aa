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
import { growLogTree } from './log-tree-store.ts';
import type { TrustKeyRow } from './trust-key-store.ts';

export type HeadStore = ReturnType<typeof headsIn>;

/** The tables behind the heads of the log, in the form that signing and finding them takes. */
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
