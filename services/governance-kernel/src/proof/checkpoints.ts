import type { CheckpointId, Digest } from '@countersign/contracts';
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
  record(checkpoint: { id: CheckpointId; size: number; root: Digest; note: string; at: Date }): Promise<Checkpoint>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  /** A checkpoint is made when this many receipts are not covered yet … */
  receiptsMax: number;
  /** … or this long after the last one, when there is anything new. */
  intervalMs: number;
};

export type Checkpoints = { create(): Promise<Checkpoint>; createWhenDue(): Promise<void> };

/** Grows the log's tree behind the commits, and signs its heads (C2SP tlog-checkpoint, signed-note). */
export function createCheckpoints(parts: CheckpointsParts): Checkpoints {
  const create = async () => {
    const head = await parts.growTree();
    const root = frontierRoot(parts.provider, head);
    const at = parts.clock();
    const text = formatCheckpoint({ origin: parts.origin, size: head.size, root, time: at.toISOString() });
    return parts.record({
      id: `chk_${parts.newUlid(at.getTime())}` as CheckpointId, // the form that CheckpointId describes
      size: head.size,
      root: `sha256:${encodeHex(root)}` as Digest, // as above
      note: signNote(parts.provider, text, [{ name: parts.origin, signer: parts.signer }]),
      at,
    });
  };
  const createWhenDue = async () => {
    const [head, latest] = [await parts.growTree(), await parts.findLatest()];
    const uncovered = head.size - (latest?.tree_size ?? 0);
    const ageMs = parts.clock().getTime() - Date.parse(latest?.created_at ?? '1970-01-01T00:00:00.000Z');
    if (uncovered >= parts.receiptsMax || (uncovered > 0 && ageMs >= parts.intervalMs)) await create();
  };
  return { create, createWhenDue };
}
