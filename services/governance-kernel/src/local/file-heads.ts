import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { emptyFrontier, type CryptoProvider } from '@countersign/crypto';
import { instantOf } from '@countersign/contracts';
import { grown } from '../ledger/log-tree.ts';
import type { RegistryFile } from './registry-file/registry-file.ts';
import type { RegistryState } from './registry-file/registry-state.ts';
import type { NewCheckpoint } from '../store/checkpoint-store.ts';
import type { HeadStore } from '../store/heads-in.ts';
import type { TrustKeyRow } from '../store/trust-key-store.ts';

/** The heads of the log in the registry file. One key signs all of them, so no revocation excludes any. */
export function fileHeads(file: RegistryFile, provider: CryptoProvider, keys: readonly TrustKeyRow[]): HeadStore {
  const heads = async () => (await file.read()).checkpoints;
  const largestFirst = async (fits: (head: Checkpoint) => boolean) =>
    (await heads()).filter(fits).toSorted((a, b) => b.tree_size - a.tree_size);
  return {
    growTree: async () => {
      const hashes = (await file.read()).log.map(({ receipt_hash: hash }) => hash);
      return grown(provider, emptyFrontier, hashes).frontier;
    },
    record: (checkpoint) => file.change((state) => recorded(state, checkpoint)),
    find: async (id) => (await heads()).find((head) => head.checkpoint_id === id) ?? null,
    findLatest: async () => (await largestFirst(() => true))[0] ?? null,
    listLargest: async (_signers, { before, below }) =>
      await largestFirst((head) => new Date(head.created_at) < before && head.tree_size < (below ?? Infinity)),
    listUpTo: async ({ size, limit }) => (await largestFirst((head) => head.tree_size <= size)).slice(0, limit),
    listFrom: async ({ size, limit }) =>
      (await largestFirst((head) => head.tree_size >= size)).toReversed().slice(0, limit),
    listKeys: async () => [...keys],
  };
}

/** A log never signs two heads of one size, and the times of its heads never decrease with their size. */
function recorded(state: RegistryState, { id, size, root, at, noteAt }: NewCheckpoint) {
  const { checkpoints, log } = state;
  const existing = checkpoints.find((head) => head.tree_size === size);
  if (existing !== undefined) return { state: null, result: existing };
  const previous = checkpoints.findLast((head) => head.tree_size < size) ?? null;
  const next = checkpoints.find((head) => head.tree_size > size) ?? null;
  const notBefore = previous === null ? at : new Date(Math.max(at.getTime(), Date.parse(previous.created_at)));
  const dated = next === null ? notBefore : new Date(Math.min(notBefore.getTime(), Date.parse(next.created_at)));
  const head: Checkpoint = {
    checkpoint_id: id,
    tree_size: size,
    root_hash: root,
    receipt_count: size,
    record_count: log.slice(0, size).filter(({ record }) => record !== null).length,
    note: noteAt(dated),
    previous_checkpoint_id: previous?.checkpoint_id ?? null,
    created_at: instantOf(dated),
  };
  const sorted = [...checkpoints, head].toSorted((a, b) => a.tree_size - b.tree_size);
  return { state: { ...state, checkpoints: sorted }, result: head };
}
