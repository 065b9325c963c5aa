import type { Checkpoint, EarlyWitness, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { verifyCheckpoint } from '@countersign/verifier';
import { z } from 'zod';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { provenIncluded } from './log-proofs.ts';
import { trustedKeysOf } from './trusted-keys.ts';

/** The checkpoints that an answer rests on, and which of them proves the place of what these keys have signed. */
export type Witnesses = {
  notes: string[];
  sizeFor(keyIds: readonly string[], logIndex: number): number;
};

type CheckpointLookup = { newest: Checkpoint; findBefore(at: Date): Promise<Checkpoint | null> };
type LogTrust = Pick<Parameters<typeof verifyCheckpoint>[1], 'provider' | 'origin'>;

/**
 * The newest checkpoint from before an instant that the public verifier takes. One that a revoked key of the log has signed vouches for
 * nothing, whenever it says that it was made; then one counts from before that key.
 */
export function countedBefore(
  keys: readonly TrustKeyRow[],
  { findBefore, ...log }: Pick<CheckpointLookup, 'findBefore'> & LogTrust,
): CheckpointLookup['findBefore'] {
  const trust = trustedKeysOf(keys);
  const beginnings = keys.filter(isRevokedLogKey).map(({ valid_from }) => valid_from);
  return async (at) => {
    const instants = [at, ...beginnings.filter((beginning) => beginning < at)];
    for (const instant of instants.sort((left, right) => right.getTime() - left.getTime())) {
      const found = await findBefore(instant);
      if (found !== null && isTaken(found, { trust, ...log })) return found;
    }
    return null;
  };
}

function isRevokedLogKey({ purpose, revoked_at }: TrustKeyRow): boolean {
  return purpose === 'log' && revoked_at !== null;
}

function isTaken({ note }: Checkpoint, trust: Parameters<typeof verifyCheckpoint>[1]): boolean {
  try {
    verifyCheckpoint(note, trust);
    return true;
  } catch {
    return false;
  }
}

/**
 * The newest checkpoint proves everything, but for what a key has signed that was revoked: of that it has to be the newest from before, since
 * what a checkpoint saw by then no thief has made.
 */
export async function findWitnesses(
  keys: readonly TrustKeyRow[],
  { newest, findBefore }: CheckpointLookup,
): Promise<Witnesses> {
  const early = new Map<string, Checkpoint>();
  for (const { key_id, purpose, revoked_at } of keys) {
    const found = revoked_at === null || purpose === 'log' ? null : await findBefore(revoked_at);
    if (found !== null) early.set(key_id, found);
  }
  const bySize = new Map([newest, ...early.values()].map((checkpoint) => [checkpoint.tree_size, checkpoint.note]));
  return {
    notes: [...bySize.values()],
    sizeFor: (keyIds, logIndex) => {
      const sizes = keyIds.map((keyId) => early.get(keyId)?.tree_size ?? 0).filter((size) => size > logIndex);
      return Math.min(newest.tree_size, ...sizes);
    },
  };
}

/** The one of them that proves the place of this receipt. */
export async function witnessOf(
  { receipt, record }: { receipt: StoredReceipt; record: unknown },
  keys: readonly TrustKeyRow[],
  { newest, findBefore }: CheckpointLookup,
): Promise<Checkpoint> {
  const signers = signersOf(receipt.signature.key_id, record);
  let chosen = newest;
  for (const { key_id, revoked_at } of keys) {
    const early = revoked_at === null || !signers.includes(key_id) ? null : await findBefore(revoked_at);
    if (early !== null && early.tree_size > receipt.log_index && early.tree_size < chosen.tree_size) chosen = early;
  }
  return chosen;
}

/** Whose keys an entry rests on: that of the receipt, and that of a policy's statement in its record. */
export function signersOf(keyId: string, record: unknown): string[] {
  const stated = PolicyRecord.safeParse(record);
  return stated.success ? [keyId, stated.data.intent.facts.signature.key_id] : [keyId];
}

const PolicyRecord = z.object({
  kind: z.literal('policy'),
  intent: z.object({ facts: z.object({ signature: z.object({ key_id: z.string() }) }) }),
});

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
