import type { ExportedPeriod, LinkedCheckpoints, LogPath } from '@countersign/contracts/governance-kernel';
import { emptyRoot, equalBytes } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';
import { assertConsistent, verifyCheckpoint } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';

/**
 * The checkpoints of an export. Each is signed by itself, so only together can they contradict each other: whoever shows some readers one
 * history and others another has signed both. So each has to be proven to extend the one before it.
 */
export class ExportCheckpoints {
  readonly #log: LogTrust;
  readonly #bySize = new Map<number, TimedCheckpoint>();
  #last: TimedCheckpoint | null = null;

  /** Those of the header. Throws {@link VerificationError} like `verifyCheckpoint`, `DUPLICATE` and `CONSISTENCY_UNPROVEN`. */
  constructor({ checkpoints, consistency }: LinkedCheckpoints, log: LogTrust) {
    this.#log = log;
    const links = Math.max(0, checkpoints.length - 1);
    if (consistency.length !== links)
      throw new VerificationError('CONSISTENCY_UNPROVEN', `${consistency.length} proofs stand where ${links} belong`);
    for (const [at, note] of checkpoints.entries()) {
      const checkpoint = verifyCheckpoint(note, log);
      if (this.#bySize.has(checkpoint.size)) throw new VerificationError('DUPLICATE', 'two checkpoints have one size');
      // Stryker disable next-line ArrayDeclaration: The first checkpoint has none before it, and the others have a proof each.
      this.#assertNext(checkpoint, consistency[at - 1] ?? []);
      this.#bySize.set(checkpoint.size, checkpoint);
      this.#last = checkpoint;
    }
  }

  find(size: number): TimedCheckpoint | undefined {
    return this.#bySize.get(size);
  }

  /** That of a period's last line, which may be of the same tree as the last of the header. Throws as the header does, but `DUPLICATE`. */
  verifyEnd({ checkpoint: note, consistency }: ExportedPeriod): TimedCheckpoint {
    const checkpoint = verifyCheckpoint(note, this.#log);
    this.#assertNext(checkpoint, consistency);
    return checkpoint;
  }

  #assertNext(to: TimedCheckpoint, hashes: LogPath): void {
    const [from, { provider }] = [this.#last, this.#log];
    if (from === null) return;
    if (from.size > 0) assertConsistent({ from, to, hashes, provider });
    // Every log begins with no leaves, so from there nothing is left to prove.
    else if (hashes.length > 0 || from.origin !== to.origin || !equalBytes(from.root, emptyRoot(provider)))
      throw new VerificationError('CONSISTENCY_UNPROVEN', 'the checkpoint of no leaves is not where this log began');
  }
}
