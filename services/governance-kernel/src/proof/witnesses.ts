import type { Checkpoint, EarlyWitness, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { provenIncluded } from './log-proofs.ts';

/** The checkpoints that an answer rests on, and which of them proves the place of a receipt. */
export type Witnesses = {
  notes: string[];
  sizeFor(keyId: string, logIndex: number): number;
};

type CheckpointLookup = { newest: Checkpoint; findBefore(at: Date): Promise<Checkpoint | null> };

/**
 * The newest checkpoint proves everything, but for the receipts of a key that was revoked: of them it has to be the newest from before,
 * since what a checkpoint saw by then no thief has made.
 */
export async function findWitnesses(
  keys: readonly TrustKeyRow[],
  { newest, findBefore }: CheckpointLookup,
): Promise<Witnesses> {
  const early = new Map<string, Checkpoint>();
  for (const { key_id, revoked_at } of keys) {
    const found = revoked_at === null ? null : await findBefore(revoked_at);
    if (found !== null) early.set(key_id, found);
  }
  const bySize = new Map([newest, ...early.values()].map((checkpoint) => [checkpoint.tree_size, checkpoint.note]));
  return {
    notes: [...bySize.values()],
    sizeFor: (keyId, logIndex) => {
      const witness = early.get(keyId);
      return witness !== undefined && witness.tree_size > logIndex ? witness.tree_size : newest.tree_size;
    },
  };
}

/** The one of them that proves the place of this receipt. */
export async function witnessOf(
  { signature, log_index }: StoredReceipt,
  keys: readonly TrustKeyRow[],
  { newest, findBefore }: CheckpointLookup,
): Promise<Checkpoint> {
  const revoked_at = keys.find(({ key_id }) => key_id === signature.key_id)?.revoked_at ?? null;
  const early = revoked_at === null ? null : await findBefore(revoked_at);
  return early !== null && early.tree_size > log_index ? early : newest;
}

type EarlyLookup = { provider: CryptoProvider; nodes: NodeReader } & Pick<CheckpointLookup, 'findBefore'>;

/** Of each receipt whose key was revoked, the proof by a checkpoint from before; null where there is none, or the key still counts. */
export async function findEarlyWitnesses(
  receipts: readonly StoredReceipt[],
  keys: readonly TrustKeyRow[],
  { provider, nodes, findBefore }: EarlyLookup,
): Promise<(EarlyWitness | null)[]> {
  const early = new Map<string, Checkpoint | null>();
  for (const { key_id, revoked_at } of keys)
    if (revoked_at !== null && receipts.some(({ signature }) => signature.key_id === key_id))
      early.set(key_id, await findBefore(revoked_at));
  return Promise.all(
    receipts.map(async ({ signature, log_index }) => {
      const checkpoint = early.get(signature.key_id) ?? null;
      if (checkpoint === null || checkpoint.tree_size <= log_index) return null;
      const { tree_size, note } = checkpoint;
      const hashes = await provenIncluded(provider, nodes, { index: log_index, size: tree_size });
      return { proof: { log_index, tree_size, hashes }, checkpoint: note };
    }),
  );
}
