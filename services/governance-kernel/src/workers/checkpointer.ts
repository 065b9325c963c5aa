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
import type { Log } from '@countersign/service-kit';

type CheckpointerParts = {
  provider: CryptoProvider;
  signer: Signer;
  origin: string;
  getLogHead(): Promise<Frontier>;
  findLatest(): Promise<Checkpoint | null>;
  record(checkpoint: { id: CheckpointId; size: number; root: Digest; note: string; at: Date }): Promise<Checkpoint>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  log: Log;
  /** A checkpoint is made when this many receipts are not covered yet … */
  receiptsMax: number;
  /** … or this long after the last one, when there is anything new. */
  intervalMs: number;
};

export type Checkpointer = { create(): Promise<Checkpoint>; close(): void };

/** How often the head is looked at; one small query. */
const lookEveryMs = 1_000;

/** Signs heads of the log on demand and by itself (C2SP tlog-checkpoint, signed-note). */
export function startCheckpointer(parts: CheckpointerParts): Checkpointer {
  const create = async () => {
    const head = await parts.getLogHead();
    const root = frontierRoot(parts.provider, head);
    const at = parts.clock();
    const text = formatCheckpoint({ origin: parts.origin, size: head.size, root });
    return parts.record({
      id: `chk_${parts.newUlid(at.getTime())}` as CheckpointId, // the form that CheckpointId describes
      size: head.size,
      root: `sha256:${encodeHex(root)}` as Digest, // as above
      note: signNote(parts.provider, text, [{ name: parts.origin, signer: parts.signer }]),
      at,
    });
  };
  const createWhenDue = async () => {
    const [head, latest] = [await parts.getLogHead(), await parts.findLatest()];
    const uncovered = head.size - (latest?.tree_size ?? 0);
    const ageMs = parts.clock().getTime() - Date.parse(latest?.created_at ?? '1970-01-01T00:00:00.000Z');
    if (uncovered >= parts.receiptsMax || (uncovered > 0 && ageMs >= parts.intervalMs)) await create();
  };
  const timer = setInterval(() => {
    createWhenDue().catch((error: unknown) => parts.log.warn('checkpoint.failed', { error }));
  }, lookEveryMs);
  timer.unref();
  return { create, close: () => clearInterval(timer) };
}
