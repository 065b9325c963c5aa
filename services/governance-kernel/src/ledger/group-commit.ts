import { AppError, isAppError } from '@countersign/contracts';
import type { Commit, LedgerEntry } from './commit.ts';

/** Enough to make the commit a small part of each decision, and few enough that one batch takes low milliseconds. */
const batchEntriesMax = 128;

/** Above this number callers must retry, since they would wait beyond their own deadline. */
const queueEntriesMax = 10_000;

type Queued = { entry: LedgerEntry<unknown>; resolve(result: unknown): void; reject(error: unknown): void };

/**
 * Group commit without delay: entries that queued during the last commit form the next batch. The size of a batch
 * adapts, from one entry on an idle kernel to dozens under load. No entry is answered before the commit is durable.
 */
export class GroupCommit {
  readonly #commitEntries: Commit;
  #queue: Queued[] = [];
  #running: Promise<void> | null = null;

  constructor(commit: Commit) {
    this.#commitEntries = commit;
  }

  /** Rejects with RECEIPT_STORE_UNAVAILABLE when the batch was not committed, or with the error of `conclude`. */
  submit<Result>(entry: LedgerEntry<Result>): Promise<Result> {
    if (this.#queue.length >= queueEntriesMax)
      return Promise.reject(unavailable(new Error('the ledger queue is full')));
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, resolve: resolve, reject }); // the result of `conclude` has this type
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything submitted so far is answered. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    // Entries that arrive in the same turn of an idle ledger are committed together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchEntriesMax);
      await this.#commit(batch);
    }
    this.#running = null;
  }

  async #commit(batch: Queued[]): Promise<void> {
    try {
      const results = await this.#commitEntries(batch.map(({ entry }) => entry));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const done = results[index];
        if (done?.status === 'fulfilled') resolve(done.value);
        else reject(done?.reason);
      }
    } catch (error) {
      await this.#refuse(batch, error);
    }
  }

  /**
   * One entry that the database refuses must not fail the others, so each is tried alone. When nothing can be
   * committed, the store throws an AppError, and is not called again for each entry.
   */
  async #refuse(batch: Queued[], error: unknown): Promise<void> {
    if (batch.length === 1 || isAppError(error)) {
      for (const { reject } of batch) reject(isAppError(error) ? error : unavailable(error));
      return;
    }
    for (const queued of batch) await this.#commit([queued]);
  }
}

export function unavailable(cause: unknown): AppError {
  return new AppError(
    'RECEIPT_STORE_UNAVAILABLE',
    'The decision or change could not be sealed, so nothing was executed',
    {
      cause,
    },
  );
}
