import { AppError, type CheckpointId, type Digest, type Instant } from '@countersign/contracts';
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
  /** Signs and stores a head, or returns the one that this size already has. */
  record(head: UnsignedHead & { id: CheckpointId; size: number }): Promise<Checkpoint>;
  /** Whether the public verifier takes it by the keys of today. */
  isCounted(checkpoint: Checkpoint): Promise<boolean>;
  clock: () => Date;
  /** Rejects where the clock is far from the database's: what others sealed would be later than what has seen it. */
  assertClockNear(): Promise<void>;
  /** Rejects when the key of the log is not valid at this instant, since its note would be refused. */
  assertKeyCounting(at: Date): Promise<void>;
  newUlid: (nowMs: number) => string;
  /** A checkpoint is made when this many receipts are not covered yet … */
  receiptsMax: number;
  /** … or this long after the last one, when there is anything new. */
  intervalMs: number;
};

/** `at`: now by this clock. Times of heads never decrease with their size, so the store may choose another instant near it. */
type UnsignedHead = { root: Digest; at: Date; noteAt(at: Date): string };

/** Receipts sealed while the tree grew are not in it, and must not be dated long before its head. */
const growthMsMax = 15_000;
const growthsMax = 5;

export type Checkpoints = { create(): Promise<Checkpoint>; createWhenDue(): Promise<void> };

/** Grows the log's tree behind the commits, and signs its heads (C2SP tlog-checkpoint, signed-note). */
export function createCheckpoints(parts: CheckpointsParts): Checkpoints {
  const create = async () => {
    const head = await growInTime(parts);
    const { size } = head;
    const root = frontierRoot(parts.provider, head);
    await parts.assertClockNear();
    const at = parts.clock();
    await parts.assertKeyCounting(at);
    const unsigned: UnsignedHead = {
      root: `sha256:${encodeHex(root)}` as Digest, // the form that Digest describes
      noteAt: (time) => {
        const text = formatCheckpoint({ origin: parts.origin, size, root, time: time.toISOString() });
        return signNote(parts.provider, text, [{ name: parts.origin, signer: parts.signer }]);
      },
      at,
    };
    const id = `chk_${parts.newUlid(at.getTime())}` as CheckpointId; // as above
    const stored = await parts.record({ id, size, ...unsigned });
    if (await parts.isCounted(stored)) return stored;
    await parts.assertKeyCounting(at); // it may have been revoked since it signed
    return signedAnew(stored, unsigned);
  };
  const createWhenDue = async () => {
    const [head, latest] = [await parts.growTree(), await parts.findLatest()];
    const uncovered = head.size - (latest?.tree_size ?? 0);
    const ageMs = parts.clock().getTime() - Date.parse(latest?.created_at ?? '1970-01-01T00:00:00.000Z');
    if (uncovered >= parts.receiptsMax || (uncovered > 0 && ageMs >= parts.intervalMs)) await create();
  };
  return { create, createWhenDue };
}

/** Throws RECEIPT_STORE_UNAVAILABLE when the tree cannot catch up with the log. */
async function growInTime({ growTree, clock }: Pick<CheckpointsParts, 'growTree' | 'clock'>): Promise<Frontier> {
  for (let growths = 0; growths < growthsMax; growths += 1) {
    const begunMs = clock().getTime();
    const head = await growTree();
    if (clock().getTime() - begunMs <= growthMsMax) return head;
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The tree of the log grows too slowly to be signed');
}

/**
 * The same tree under a key that counts. A log has one head of each size, so this one is not stored: it serves the
 * answer that asked for it. Throws where the stored checkpoint is no head of this log: a second head of one size must
 * never be given out.
 */
function signedAnew(stored: Checkpoint, { root, noteAt, at }: UnsignedHead): Checkpoint {
  if (stored.root_hash !== root) throw new Error(`The log has another head of ${stored.tree_size} leaves already`);
  return { ...stored, note: noteAt(at), created_at: at.toISOString() as Instant }; // toISOString writes exactly this form
}
