import type { LinkedCheckpoints, LogPath, PackEnd, ReportedLog } from '@countersign/contracts/governance-kernel';
import { emptyRoot, equalBytes } from '@countersign/crypto';
import type { EarlierPlaces } from './earlier-places.ts';
import type { LogPolicy } from './log-policy.ts';
import { isLater, type TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertConsistent, verifyCheckpoint } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';
import { WitnessedLog, type PlaceSpan, type WitnessedSpan } from './witnessed-log.ts';

/** An earlier export for comparison, and the places for a later comparison. */
type Comparison = { earlier?: EarlierPlaces | undefined; places?: EarlierPlaces | undefined };

type Reading = LogTrust & Comparison & { policy?: LogPolicy | undefined };

/**
 * The checkpoints of an export. Each is signed separately, so contradictions show only between them: a log that shows
 * different readers different histories has signed both. Each must therefore be proven to extend the previous one.
 */
export class ExportCheckpoints {
  readonly #log: Reading;
  readonly #witnessed: WitnessedLog | null;
  readonly #bySize = new Map<number, TimedCheckpoint>();
  /** The checkpoints of the header, smallest tree first. */
  readonly #ordered: TimedCheckpoint[] = [];
  /** The checkpoints of the header, and the one of the last line. */
  readonly #shown: TimedCheckpoint[] = [];

  /**
   * Verifies the checkpoints of the header. Throws {@link VerificationError} like `verifyCheckpoint`, `DUPLICATE`,
   * `CONSISTENCY_UNPROVEN`, and `TIME_MISMATCH` when a larger tree is dated before a smaller one.
   */
  constructor({ checkpoints, consistency }: LinkedCheckpoints, log: Reading) {
    this.#log = log;
    this.#witnessed = log.policy === undefined ? null : new WitnessedLog(log.policy, log.provider);
    const links = Math.max(0, checkpoints.length - 1);
    if (consistency.length !== links)
      throw new VerificationError(
        'CONSISTENCY_UNPROVEN',
        `the header has ${consistency.length} consistency proofs, but its checkpoints need ${links}`,
      );
    for (const [at, note] of checkpoints.entries()) {
      const checkpoint = verifyCheckpoint(note, log);
      if (this.#bySize.has(checkpoint.size))
        throw new VerificationError('DUPLICATE', 'two checkpoints have the same size');
      // Stryker disable next-line ArrayDeclaration: The first checkpoint has none before it, and the others have a proof each.
      this.#assertNext(checkpoint, consistency[at - 1] ?? []);
      this.#bySize.set(checkpoint.size, checkpoint);
      this.#ordered.push(checkpoint);
      this.#show(checkpoint, note);
    }
  }

  find(size: number): TimedCheckpoint | undefined {
    return this.#bySize.get(size);
  }

  /**
   * The checkpoint of the header with the largest tree that lacks this leaf. The log gained the leaf after that
   * checkpoint.
   */
  findBefore(logIndex: number): TimedCheckpoint | undefined {
    return this.#ordered[this.#countBefore(logIndex) - 1];
  }

  /** The checkpoint of the header with the smallest tree that contains this leaf. It is the earliest of them. */
  findFirstWith(logIndex: number): TimedCheckpoint | undefined {
    return this.#ordered[this.#countBefore(logIndex)];
  }

  /** Throws `TIME_MISMATCH` for a leaf dated more than a minute before a checkpoint whose tree lacks it. */
  assertNotBefore(claimed: string, logIndex: number): void {
    const before = this.findBefore(logIndex);
    if (before === undefined || !isLater(before.time, claimed)) return;
    const problem = `the receipt is dated ${claimed}, but the checkpoint of ${before.time} does not contain it yet`;
    throw new VerificationError('TIME_MISMATCH', problem);
  }

  /**
   * Verifies the checkpoint of a period's last line, which may have the same tree as the last one of the header. Throws
   * like the constructor, except `DUPLICATE`.
   */
  verifyEnd({ checkpoint: note, consistency }: Pick<PackEnd, 'checkpoint' | 'consistency'>): TimedCheckpoint {
    const checkpoint = verifyCheckpoint(note, this.#log);
    this.#assertNext(checkpoint, consistency);
    this.#show(checkpoint, note);
    return checkpoint;
  }

  /** The times at which witnesses saw these places, by the policy. `null` without a policy or without its quorum. */
  witnessedAt(places: PlaceSpan): WitnessedSpan | null {
    return this.#witnessed?.spanOf(places) ?? null;
  }

  /** All checkpoints, including that of the last line. `null` when there is none. */
  get log(): ReportedLog | null {
    const [first] = this.#shown;
    if (first === undefined) return null;
    return { origin: first.origin, checkpoints: this.#shown.map(({ size, time }) => ({ size, time })) };
  }

  /** The key of each checkpoint. */
  get keys(): TrustedKey[] {
    return this.#shown.map(({ key }) => key);
  }

  /** The number of checkpoints in the header whose trees lack this leaf. */
  #countBefore(logIndex: number): number {
    let [low, high] = [0, this.#ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordered[middle]?.size ?? Infinity) <= logIndex) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #show(checkpoint: TimedCheckpoint, note: string): void {
    this.#witnessed?.take(note, checkpoint);
    this.#log.earlier?.compareCheckpoint(checkpoint);
    this.#log.places?.noteCheckpoint(checkpoint);
    this.#shown.push(checkpoint);
  }

  #assertNext(to: TimedCheckpoint, hashes: LogPath): void {
    const [from, { provider }] = [this.#ordered.at(-1), this.#log];
    if (from === undefined) return;
    if (from.size > 0) assertConsistent({ from, to, hashes, provider });
    // Every log extends the empty log, so no proof is needed.
    else if (hashes.length > 0 || from.origin !== to.origin || !equalBytes(from.root, emptyRoot(provider)))
      throw new VerificationError('CONSISTENCY_UNPROVEN', 'the empty checkpoint does not belong to this log');
    if (Date.parse(to.time) < Date.parse(from.time))
      throw new VerificationError(
        'TIME_MISMATCH',
        `the checkpoint of ${to.size} leaves is dated ${to.time}, before the checkpoint of ${from.size} leaves at ${from.time}`,
      );
  }
}
