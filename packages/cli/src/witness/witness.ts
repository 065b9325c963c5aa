import {
  assertExtends,
  cosignNote,
  equalBytes,
  openSubmission,
  SubmissionRefused,
  type NoteKey,
  type SignedSubmission,
} from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { CosignedHead, WitnessFolder } from './witness-folder.ts';

/** Maximum number of submissions that wait for the disk. It bounds the memory. */
const waitingMax = 64;

export type WitnessAnswer =
  /** `line` is the cosignature. `note` is the checkpoint with this line at its end. */
  | { kind: 'cosigned'; line: string; note: string }
  | { kind: 'refused'; refusal: SubmissionRefused }
  | { kind: 'unavailable'; problem: string };

type WitnessDeps = {
  folder: Pick<WitnessFolder, 'key' | 'signer' | 'heads' | 'save'>;
  /** The keys of the accepted logs. The name of a key is the origin of its log. */
  logs: readonly NoteKey[];
  clock: () => Date;
  /** Stores the proof that a log signed two trees of one size. The refusal is answered after that. Never rejects. */
  onFork(fork: { origin: string; size: number; cosigned: string; refused: string }): Promise<void>;
};

/**
 * A witness (c2sp.org/tlog-witness) cosigns a checkpoint only if it extends the last one that it cosigned. A checkpoint
 * is stored durably before its cosignature is returned. Submissions are handled one after the other.
 */
export class Witness {
  readonly #deps: WitnessDeps;
  #heads: ReadonlyMap<string, CosignedHead>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** After a failed write, the state of the file is unknown, so nothing more is cosigned. */
  #isBroken = false;

  constructor(deps: WitnessDeps) {
    this.#deps = deps;
    this.#heads = deps.folder.heads;
  }

  /** Handles an attacker-controlled body of `add-checkpoint`. */
  async submit(body: string): Promise<WitnessAnswer> {
    try {
      const submission = openSubmission(nodeProvider, body, this.#deps.logs);
      if (this.#waiting >= waitingMax) return { kind: 'unavailable', problem: 'too many submissions wait' };
      return await this.#inTurn(() => this.#cosign(submission));
    } catch (error) {
      if (error instanceof SubmissionRefused) return { kind: 'refused', refusal: error };
      throw error;
    }
  }

  /** The last cosigned checkpoint of this log, in the format for monitors. `null` when there is none. */
  find(origin: string): string | null {
    return this.#heads.get(origin)?.note ?? null;
  }

  get origins(): string[] {
    return [...this.#heads.keys()];
  }

  /** Resolves when no submission is in progress. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async #cosign(submission: SignedSubmission): Promise<WitnessAnswer> {
    const { folder, clock } = this.#deps;
    const { origin, head, text } = submission;
    if (this.#isBroken)
      return { kind: 'unavailable', problem: 'the state could not be written. Start the witness again' };
    const seen = this.#heads.get(origin) ?? null;
    await this.#reportFork(submission, seen);
    assertExtends(nodeProvider, submission, seen);
    // The client may have lost the answer. It gets the stored cosignature, and no new one.
    if (seen?.text === text) return cosigned(seen.note);
    const seconds = Math.floor(clock().getTime() / 1_000);
    if (seen !== null && seconds < seen.seconds)
      return { kind: 'unavailable', problem: 'the clock of this witness is behind its last cosignature' };
    const { name } = folder.key;
    const line = cosignNote(nodeProvider, submission.note, { name, signer: folder.signer, seconds });
    const note = `${submission.note}${line}`;
    const heads = new Map(this.#heads).set(origin, { ...head, origin, seconds, text, note });
    try {
      await folder.save(heads);
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
    this.#heads = heads;
    return cosigned(note);
  }

  async #reportFork({ origin, head, note }: SignedSubmission, seen: CosignedHead | null): Promise<void> {
    if (seen === null || seen.size !== head.size || equalBytes(seen.root, head.root)) return;
    await this.#deps.onFork({ origin, size: head.size, cosigned: seen.note, refused: note });
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function cosigned(note: string): WitnessAnswer {
  const line = note.slice(note.lastIndexOf('\n', note.length - 2) + 1);
  return { kind: 'cosigned', line, note };
}
