import { AppError } from '@countersign/contracts';
import {
  linkedCheckpointsMax,
  type Checkpoint,
  type EarlyWitness,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { z } from 'zod';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import type { CountedHeads } from './counted-heads.ts';
import { provenIncluded } from './log-proofs.ts';

/** The checkpoints that an answer rests on, and which of them proves the place of what these keys have signed. */
export type Witnesses = {
  /** Smallest tree first, each of another size. */
  checkpoints: Pick<Checkpoint, 'tree_size' | 'note'>[];
  sizeFor(keyIds: readonly string[], logIndex: number): number;
};

type CheckpointLookup = Pick<CountedHeads, 'findBefore'> & { newest: Checkpoint };
/** `before`: the last checkpoint without what is given out. Nothing of it was sealed before that one. */
type HeaderLookup = CheckpointLookup & { before: Checkpoint | null };

type GivenOut = {
  /** Whether a key has signed anything of what is given out, among the first `below` entries of the log. */
  hasSigned(signed: { keyId: string; below: number }): Promise<boolean>;
};

/**
 * The newest checkpoint proves everything, except receipts of a revoked key. For those it has to be the largest from
 * before the revocation, since a thief cannot have made what a checkpoint saw by then. It is among them only where it
 * proves an exported receipt. Receipts of two revoked keys are proven by the earlier checkpoint alone, so the later one
 * may be unused. Only the lines show that, and they come after. Throws INVALID_REQUEST for more checkpoints than a
 * header holds.
 */
export async function findWitnesses(
  keys: readonly TrustKeyRow[],
  { newest, before, findBefore, hasSigned }: HeaderLookup & GivenOut,
): Promise<Witnesses> {
  const early = new Map<string, Checkpoint>();
  for (const { key_id, purpose, revoked_at } of keys) {
    const found = revoked_at === null || purpose === 'log' ? null : await findBefore(revoked_at);
    if (found !== null && (await hasSigned({ keyId: key_id, below: found.tree_size }))) early.set(key_id, found);
  }
  const proving = [newest, ...early.values()];
  const bySize = new Map(proving.map((checkpoint) => [checkpoint.tree_size, checkpoint]));
  // Logs of earlier versions have heads that are dated after those of larger trees, which no verifier takes together.
  if (before !== null && proving.every(({ created_at }) => before.created_at <= created_at))
    bySize.set(before.tree_size, before);
  if (bySize.size > linkedCheckpointsMax) {
    const problem = `More than ${linkedCheckpointsMax - 2} revoked keys have signed what is asked for: ask for a shorter part`;
    throw new AppError('INVALID_REQUEST', problem);
  }
  return {
    checkpoints: [...bySize.values()].sort((left, right) => left.tree_size - right.tree_size),
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

/** The keys that an entry depends on: that of the receipt, and that of a policy's statement in its record. */
export function signersOf(keyId: string, record: unknown): string[] {
  const stated = PolicyRecord.safeParse(record);
  return stated.success ? [keyId, stated.data.intent.facts.signature.key_id] : [keyId];
}

const PolicyRecord = z.object({
  kind: z.literal('policy'),
  intent: z.object({ facts: z.object({ signature: z.object({ key_id: z.string() }) }) }),
});

type EarlyLookup = Pick<CountedHeads, 'findBefore'> & { provider: CryptoProvider; nodes: NodeReader };

/**
 * For each receipt whose key was revoked, the proof by an earlier checkpoint; `null` where there is none, or the key is
 * still valid.
 */
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
