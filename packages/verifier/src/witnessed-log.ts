import { CryptoError, equalBytes, openCosignatures } from '@countersign/crypto';
import type { CryptoProvider, NoteKey } from '@countersign/crypto';
import type { LogPolicy, Quorum } from './log-policy.ts';
import { isLater, publicKeyBytes } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import type { TimedCheckpoint } from './verify-log.ts';

/**
 * The time at which the witnessed log gained the receipts. `by`: a quorum had cosigned a checkpoint with all of them.
 * `after`: a quorum had cosigned a checkpoint with none of them. `null` without such a checkpoint.
 */
export type WitnessedSpan = { after: string | null; by: string };

/** The first and the last place of the receipts in the log. */
export type PlaceSpan = { first: number; last: number };

type Cosigned = { size: number; seconds: number };

/** The cosignatures of an export, by the policy of its reader. */
export class WitnessedLog {
  readonly #policy: LogPolicy;
  readonly #provider: CryptoProvider;
  /** The largest tree of each witness, and the time of its cosignature. */
  readonly #largest = new Map<NoteKey, Cosigned>();
  /** The checkpoints with a quorum. */
  readonly #witnessed: Cosigned[] = [];

  constructor(policy: LogPolicy, provider: CryptoProvider) {
    this.#policy = policy;
    this.#provider = provider;
  }

  /**
   * Adds the next checkpoint, smallest tree first. Throws {@link VerificationError} `CHECKPOINT_INVALID` for a false
   * cosignature, and `TIME_MISMATCH` for contradicting times.
   */
  take(note: string, checkpoint: TimedCheckpoint): void {
    if (!this.#accepts(checkpoint)) return;
    const times = new Map<NoteKey, number>();
    for (const { key, seconds } of this.#open(note)) {
      const at = instantOf(seconds);
      if (isLater(checkpoint.time, at))
        throw mismatch(`${key.name} cosigned at ${at}, before the time of the checkpoint, ${checkpoint.time}`);
      const before = this.#largest.get(key);
      if (before !== undefined && before.seconds > seconds)
        throw mismatch(
          `${key.name} cosigned the tree of ${checkpoint.size} leaves before the smaller tree of ${before.size}`,
        );
      this.#largest.set(key, { size: checkpoint.size, seconds });
      times.set(key, seconds);
    }
    const { quorum } = this.#policy;
    const seconds = quorum === null ? null : timeOf(quorum, times);
    if (seconds !== null) this.#witnessed.push({ size: checkpoint.size, seconds });
  }

  /** The time at which the log gained these places. `null` when no checkpoint with a quorum has all of them. */
  spanOf({ first, last }: PlaceSpan): WitnessedSpan | null {
    const secondsOf = (wanted: (size: number) => boolean) =>
      this.#witnessed.filter(({ size }) => wanted(size)).map(({ seconds }) => seconds);
    const over = secondsOf((size) => size > last);
    if (over.length === 0) return null;
    const by = Math.min(...over);
    // A checkpoint that reached its quorum after `by` sets no lower bound.
    const without = secondsOf((size) => size <= first).filter((seconds) => seconds <= by);
    return { after: without.length === 0 ? null : instantOf(Math.max(...without)), by: instantOf(by) };
  }

  #accepts({ origin, key }: TimedCheckpoint): boolean {
    const { logs } = this.#policy;
    const publicKey = publicKeyBytes(key);
    return logs.length === 0 || logs.some((log) => log.name === origin && equalBytes(log.publicKey, publicKey));
  }

  #open(note: string) {
    try {
      return openCosignatures(this.#provider, note, this.#policy.witnesses);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
      throw new VerificationError('CHECKPOINT_INVALID', `checkpoint: ${error.message}`);
    }
  }
}

/** The earliest time at which the quorum was reached. `null` when it was not. */
function timeOf(quorum: Quorum, times: ReadonlyMap<NoteKey, number>): number | null {
  if (!('members' in quorum)) return times.get(quorum) ?? null;
  const reached = quorum.members.flatMap((member) => timeOf(member, times) ?? []);
  return reached.sort((left, right) => left - right)[quorum.threshold - 1] ?? null;
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

function mismatch(message: string): VerificationError {
  return new VerificationError('TIME_MISMATCH', message);
}
