import type { CheckpointId, Digest, Instant } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import {
  encodeHex,
  formatCheckpoint,
  frontierRoot,
  signNote,
  type CryptoProvider,
  type Frontier,
  type Signer,
} from '@countersign/crypto';

export type CheckpointsParts = {
  provider: CryptoProvider;
  signer: Signer;
  origin: string;
  /** Grows the Merkle tree up to the log, and returns its head. */
  growTree(): Promise<Frontier>;
  findLatest(): Promise<Checkpoint | null>;
  /** Stores a head, or returns the one that this size already has. */
  record(checkpoint: SignedHead & { id: CheckpointId; size: number }): Promise<Checkpoint>;
  /** Whether the public verifier takes it by the keys of today. */
  isCounted(checkpoint: Checkpoint): Promise<boolean>;
  clock: () => Date;
  /** Rejects where the clock is far from the database's: what others sealed would be later than what has seen it. */
  assertClockNear(): Promise<void>;
  /** Rejects where the key of the log does not count at this instant: nobody would take its note. */
  assertKeyCounting(at: Date): Promise<void>;
  newUlid: (nowMs: number) => string;
  /** A checkpoint is made when this many receipts are not covered yet … */
  receiptsMax: number;
  /** … or this long after the last one, when there is anything new. */
  intervalMs: number;
};

type SignedHead = { root: Digest; note: string; at: Date };

export type Checkpoints = { create(): Promise<Checkpoint>; createWhenDue(): Promise<void> };

/** Grows the log's tree behind the commits, and signs its heads (C2SP tlog-checkpoint, signed-note). */
export function createCheckpoints(parts: CheckpointsParts): Checkpoints {
  const create = async () => {
    const head = await parts.growTree();
    const { size } = head;
    const root = frontierRoot(parts.provider, head);
    await parts.assertClockNear();
    const at = parts.clock();
    await parts.assertKeyCounting(at);
    const text = formatCheckpoint({ origin: parts.origin, size, root, time: at.toISOString() });
    const signed = {
      root: `sha256:${encodeHex(root)}` as Digest, // the form that Digest describes
      note: signNote(parts.provider, text, [{ name: parts.origin, signer: parts.signer }]),
      at,
    };
    const id = `chk_${parts.newUlid(at.getTime())}` as CheckpointId; // as above
    const stored = await parts.record({ id, size, ...signed });
    if (await parts.isCounted(stored)) return stored;
    await parts.assertKeyCounting(at); // it may have been revoked since it signed
    return signedAnew(stored, signed);
  };
  const createWhenDue = async () => {
    const [head, latest] = [await parts.growTree(), await parts.findLatest()];
    const uncovered = head.size - (latest?.tree_size ?? 0);
    const ageMs = parts.clock().getTime() - Date.parse(latest?.created_at ?? '1970-01-01T00:00:00.000Z');
    if (uncovered >= parts.receiptsMax || (uncovered > 0 && ageMs >= parts.intervalMs)) await create();
  };
  return { create, createWhenDue };
}

/**
 * The same tree under a key that counts. A log has one head of each size, so this one is not stored: it serves the answer that asked for it.
 * Throws where what is stored is no head of this log: a second head of one size is what nobody may ever be given.
 */
function signedAnew(stored: Checkpoint, { root, note, at }: SignedHead): Checkpoint {
  if (stored.root_hash !== root) throw new Error(`The log has another head of ${stored.tree_size} leaves already`);
  return { ...stored, note, created_at: at.toISOString() as Instant }; // toISOString writes exactly this form
}
