import type { Checkpoint, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { TrustKeyRow } from '../store/trust-key-store.ts';

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
