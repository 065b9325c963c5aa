import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { findCheckpointOfSize } from './checkpoint-store.ts';
import { findCosignedSizes, listCosignatures } from './cosignature-store.ts';
import type { Reader } from './database.ts';

/** Whether the signing key of a checkpoint is valid. */
export type Counted = { isCounted(checkpoint: Checkpoint): boolean };

export type CosignedHead = Pick<Checkpoint, 'tree_size' | 'note'>;

/**
 * The checkpoint with the cosignatures of its witnesses after its own signature. A checkpoint that was signed again
 * for an answer has a different text, without cosignatures, and is unchanged.
 */
export async function withCosignatures<Head extends CosignedHead>(
  { reader, provider }: { reader: Reader; provider: CryptoProvider },
  head: Head,
  received: { until?: string } = {},
): Promise<Head> {
  const until = received.until === undefined ? null : new Date(received.until);
  const lines = await listCosignatures(reader, {
    size: head.tree_size,
    textHash: textHashOf(provider, head.note),
    until,
  });
  return { ...head, note: `${head.note}${lines.join('')}` };
}

/** The hash of the text that log and witnesses sign. */
export function textHashOf(provider: CryptoProvider, note: string): string {
  return provider.sha256Hex(note.slice(0, note.lastIndexOf('\n\n') + 1));
}

/** The valid checkpoint with the most cosignatures among the next ones with at least this many leaves. */
export async function findCosigned(
  { reader, headsBy: heads }: { reader: Reader; headsBy: Counted },
  size: number,
): Promise<Checkpoint | null> {
  for (const cosigned of await findCosignedSizes(reader, size)) {
    const checkpoint = await findCheckpointOfSize(reader, cosigned);
    if (checkpoint !== null && heads.isCounted(checkpoint)) return checkpoint;
  }
  return null;
}
