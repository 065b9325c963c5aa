import { instantOf, AppError, CheckpointId, type Digest } from '@countersign/contracts';
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

export type CheckpointsDeps = {
  provider: CryptoProvider;
  signer: Signer;
  origin: string;
  /** Grows the Merkle tree up to the log, and returns its head. */
  growTree(): Promise<Frontier>;
  findLatest(): Promise<Checkpoint | null>;
  /** Signs and stores a head, or returns the head that is stored for this size. */
  record(head: UnsignedHead & { id: CheckpointId; size: number }): Promise<Checkpoint>;
  /** Whether the public verifier accepts the checkpoint with the current keys. */
  isCounted(checkpoint: Checkpoint): Promise<boolean>;
  clock: () => Date;
  /**
   * Rejects while the clock differs much from the database's clock. Otherwise, receipts of other replicas could be
   * dated after the checkpoint that covers them.
   */
  assertClockNear(): Promise<void>;
  /** Rejects when the log key is not valid at this instant, since verifiers would refuse the note. */
  assertKeyCounting(at: Date): Promise<void>;
  newUlid: (nowMs: number) => string;
  /** A checkpoint is due when this many receipts are not covered yet. */
  receiptsMax: number;
  /** A checkpoint is also due this long after the last one, if there are new receipts. */
  intervalMs: number;
};

/**
 * `at`: the current time. A larger head never has an earlier time than a smaller head. The store may therefore choose a
 * different instant near `at`.
 */
type UnsignedHead = { root: Digest; at: Date; noteAt(at: Date): string };

/**
 * The longest growth of the tree. A head lacks the receipts that are sealed during the growth. They must not be much
 * older than the head.
 */
const growthMsMax = 15_000;
const growthsMax = 5;

export type Checkpoints = { create(): Promise<Checkpoint>; createWhenDue(): Promise<void> };

/** Grows the tree of the log after commits, and signs its heads (C2SP tlog-checkpoint, signed-note). */
export function createCheckpoints(deps: CheckpointsDeps): Checkpoints {
  const create = async () => {
    const head = await growInTime(deps);
    const { size } = head;
    const root = frontierRoot(deps.provider, head);
    await deps.assertClockNear();
    const at = deps.clock();
    await deps.assertKeyCounting(at);
    const unsigned: UnsignedHead = {
      root: `sha256:${encodeHex(root)}` as Digest, // the form of a Digest
      noteAt: (time) => {
        const text = formatCheckpoint({ origin: deps.origin, size, root, time: time.toISOString() });
        return signNote(deps.provider, text, [{ name: deps.origin, signer: deps.signer }]);
      },
      at,
    };
    const id = CheckpointId.parse(`chk_${deps.newUlid(at.getTime())}`);
    const stored = await deps.record({ id, size, ...unsigned });
    if (await deps.isCounted(stored)) return stored;
    await deps.assertKeyCounting(at); // the key may have been revoked in the meantime
    return signedAnew(stored, unsigned);
  };
  const createWhenDue = async () => {
    const [head, latest] = [await deps.growTree(), await deps.findLatest()];
    const uncovered = head.size - (latest?.tree_size ?? 0);
    const ageMs = deps.clock().getTime() - Date.parse(latest?.created_at ?? '1970-01-01T00:00:00.000Z');
    if (uncovered >= deps.receiptsMax || (uncovered > 0 && ageMs >= deps.intervalMs)) await create();
  };
  return { create, createWhenDue };
}

/** Throws RECEIPT_STORE_UNAVAILABLE when the tree cannot catch up with the log. */
async function growInTime({ growTree, clock }: Pick<CheckpointsDeps, 'growTree' | 'clock'>): Promise<Frontier> {
  for (let growths = 0; growths < growthsMax; growths += 1) {
    const begunMs = clock().getTime();
    const head = await growTree();
    if (clock().getTime() - begunMs <= growthMsMax) return head;
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The tree of the log is not complete yet. Try again later');
}

/**
 * The stored checkpoint with a new signature by a valid key. A log stores one head per size, so the new head is not
 * stored and serves only the current answer. Throws when the stored checkpoint has a different root, since a second
 * head of one size must never be published.
 */
function signedAnew(stored: Checkpoint, { root, noteAt, at }: UnsignedHead): Checkpoint {
  if (stored.root_hash !== root)
    throw new Error(`The log already has a head of ${stored.tree_size} leaves with a different root`);
  return { ...stored, note: noteAt(at), created_at: instantOf(at) };
}
