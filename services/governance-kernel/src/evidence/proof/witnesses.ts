import { AppError } from '@countersign/contracts';
import {
  linkedCheckpointsMax,
  type Checkpoint,
  type EarlyWitness,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { z } from 'zod';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import type { CountedHeads } from './counted-heads.ts';
import { provenIncluded } from './log-proofs.ts';

/** The checkpoints of an answer, and which of them proves the place of receipts signed by these keys. */
export type Witnesses = {
  /** In the order of tree sizes, smallest first. No two checkpoints have the same size. */
  checkpoints: Pick<Checkpoint, 'tree_size' | 'note'>[];
  sizeFor(keyIds: readonly string[], logIndex: number): number;
};

type CheckpointLookup = Pick<CountedHeads, 'findBefore'> & { newest: Checkpoint };
/**
 * `before`: the last checkpoint before all exported receipts. `cosigned`: a checkpoint that covers all exported
 * receipts and has cosignatures of witnesses.
 */
type HeaderLookup = CheckpointLookup & { before: Checkpoint | null; cosigned: Checkpoint | null };

type GivenOut = {
  /** Whether a key has signed any exported receipt among the first `below` entries of the log. */
  hasSigned(signed: { keyId: string; below: number }): Promise<boolean>;
};

/**
 * The newest checkpoint proves everything, except receipts of a revoked key. These need the largest checkpoint from
 * before the revocation, since a thief cannot have forged what that checkpoint covers. It is included only if it proves
 * an exported receipt. An entry with signatures of two revoked keys uses only the smaller of their checkpoints, so the
 * larger checkpoint may remain unused. Its use is not known yet when the header is written. Throws INVALID_REQUEST for
 * more checkpoints than a header may contain.
 */
export async function findWitnesses(
  keys: readonly TrustKeyRow[],
  { newest, before, cosigned, findBefore, hasSigned }: HeaderLookup & GivenOut,
): Promise<Witnesses> {
  const early = new Map<string, Checkpoint>();
  for (const { key_id, purpose, revoked_at } of keys) {
    const found = revoked_at === null || purpose === 'log' ? null : await findBefore(revoked_at);
    if (found !== null && (await hasSigned({ keyId: key_id, below: found.tree_size }))) early.set(key_id, found);
  }
  const proving = [newest, ...early.values()];
  const bySize = new Map(proving.map((checkpoint) => [checkpoint.tree_size, checkpoint]));
  // In logs of earlier versions, `before` may be dated after a larger head. Verifiers would refuse the two together.
  if (before !== null && proving.every(({ created_at }) => before.created_at <= created_at))
    bySize.set(before.tree_size, before);
  if (cosigned !== null && fits(cosigned, [...bySize.values()])) bySize.set(cosigned.tree_size, cosigned);
  if (bySize.size > linkedCheckpointsMax) {
    const problem = `More than ${linkedCheckpointsMax - 2} revoked keys signed the requested receipts. Request a shorter part`;
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

/** Whether the times of these checkpoints rise with their sizes, and all sizes differ. */
function fits({ tree_size, created_at }: Checkpoint, others: readonly Checkpoint[]): boolean {
  return others.every(
    (each) => each.tree_size !== tree_size && each.tree_size < tree_size === each.created_at <= created_at,
  );
}

/** The checkpoint that proves a receipt's place: the newest one, or one from before the revocation of its key. */
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

/** The keys whose signatures an entry contains: on the receipt, and on a policy statement in the record. */
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
 * For each receipt of a revoked key, the proof by an earlier checkpoint. `null` when there is none, or when the key is
 * not revoked.
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
