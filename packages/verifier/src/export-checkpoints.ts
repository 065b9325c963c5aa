import type { LinkedCheckpoints, LogPath, PackEnd, ReportedLog } from '@countersign/contracts/governance-kernel';
import { emptyRoot, equalBytes } from '@countersign/crypto';
import type { EarlierPlaces } from './earlier-places.ts';
import { isLater, type TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertConsistent, verifyCheckpoint } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';

/** An earlier export that this one is compared with, and the notes for a later one. */
type Comparison = { earlier?: EarlierPlaces | undefined; places?: EarlierPlaces | undefined };

/**
 * The checkpoints of an export. Each is signed separately, so only together can they contradict each other: a log that
 * shows different readers different histories has signed both. Each must therefore be proven to extend the one before
 * it.
 */
export class ExportCheckpoints {
  readonly #log: LogTrust & Comparison;
  readonly #bySize = new Map<number, TimedCheckpoint>();
  /** Smallest tree first. */
  readonly #ordered: TimedCheckpoint[] = [];
  /** These, and the one of the last line. */
  readonly #shown: TimedCheckpoint[] = [];

  /**
   * Those of the header. Throws {@link VerificationError} like `verifyCheckpoint`, `DUPLICATE`, `CONSISTENCY_UNPROVEN`, and `TIME_MISMATCH`
   * when a larger tree is dated before a smaller one.
   */
  constructor({ checkpoints, consistency }: LinkedCheckpoints, log: LogTrust & Comparison) {
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
      this.#ordered.push(checkpoint);
      this.#show(checkpoint);
    }
  }

  find(size: number): TimedCheckpoint | undefined {
    return this.#bySize.get(size);
  }

  /** The largest tree without this leaf, of those in the header. The log gained the leaf after that checkpoint. */
  findBefore(logIndex: number): TimedCheckpoint | undefined {
    let [low, high] = [0, this.#ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordered[middle]?.size ?? Infinity) <= logIndex) low = middle + 1;
      else high = middle;
    }
    return this.#ordered[low - 1];
  }

  /** Throws `TIME_MISMATCH` for a leaf that is dated over a minute before a checkpoint whose tree lacks it. */
  assertNotBefore(claimed: string, logIndex: number): void {
    const before = this.findBefore(logIndex);
    if (before === undefined || !isLater(before.time, claimed)) return;
    const problem = `it says ${claimed}, and the log did not have it yet at ${before.time}`;
    throw new VerificationError('TIME_MISMATCH', problem);
  }

  /** That of a period's last line, which may be of the same tree as the last of the header. Throws as the header does, but `DUPLICATE`. */
  verifyEnd({ checkpoint: note, consistency }: Pick<PackEnd, 'checkpoint' | 'consistency'>): TimedCheckpoint {
    const checkpoint = verifyCheckpoint(note, this.#log);
    this.#assertNext(checkpoint, consistency);
    this.#show(checkpoint);
    return checkpoint;
  }

  /** All of them, with the one of the last line. `null`: there is none. */
  get log(): ReportedLog | null {
    const [first] = this.#shown;
    if (first === undefined) return null;
    return { origin: first.origin, checkpoints: this.#shown.map(({ size, time }) => ({ size, time })) };
  }

  /** One for each checkpoint. */
  get keys(): TrustedKey[] {
    return this.#shown.map(({ key }) => key);
  }

  #show(checkpoint: TimedCheckpoint): void {
    this.#log.earlier?.compareCheckpoint(checkpoint);
    this.#log.places?.noteCheckpoint(checkpoint);
    this.#shown.push(checkpoint);
  }

  #assertNext(to: TimedCheckpoint, hashes: LogPath): void {
    const [from, { provider }] = [this.#ordered.at(-1), this.#log];
    if (from === undefined) return;
    if (from.size > 0) assertConsistent({ from, to, hashes, provider });
    // Every log begins with no leaves, so from there nothing is left to prove.
    else if (hashes.length > 0 || from.origin !== to.origin || !equalBytes(from.root, emptyRoot(provider)))
      throw new VerificationError('CONSISTENCY_UNPROVEN', 'the checkpoint of no leaves is not where this log began');
    if (Date.parse(to.time) < Date.parse(from.time))
      throw new VerificationError(
        'TIME_MISMATCH',
        `the checkpoint of ${to.size} leaves is dated ${to.time}, before the one of ${from.size} leaves at ${from.time}`,
      );
  }
}
