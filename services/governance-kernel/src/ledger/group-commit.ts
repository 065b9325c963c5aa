import { AppError, isAppError } from '@countersign/contracts';
import type { LedgerBatch } from './batch.ts';
import type { BatchReads, LedgerReads } from './reads.ts';
import { mergeReads } from './reads.ts';
import type { ChainKey } from './statement.ts';

/** One thing to seal. `conclude` runs under the locks of its batch and must not wait for anything. */
export type LedgerEntry<Result> = {
  chain: ChainKey;
  reads: LedgerReads;
  conclude(batch: LedgerBatch): Result;
};

/** Runs `work` inside one transaction on the locked rows and writes what it changed. Resolves after the commit is durable. */
export type TransactBatch = (reads: BatchReads, work: (batch: LedgerBatch) => void) => Promise<void>;

/** Enough to make the commit a small part of each decision, few enough that one batch stays in the low milliseconds. */
const batchEntriesMax = 128;

/** Beyond this the caller is told to come back: waiting longer than its own deadline helps nobody. */
const queueEntriesMax = 10_000;

type Queued = { entry: LedgerEntry<unknown>; resolve(result: unknown): void; reject(error: unknown): void };
type Concluded = { queued: Queued; result: unknown } | { queued: Queued; error: unknown };

/**
 * Group commit without linger: what queued while the last batch was committing is the next batch. A batch sizes itself, from
 * one entry on an idle kernel to dozens under load. Nobody is answered before the commit is durable.
 */
export class GroupCommit {
  readonly #transact: TransactBatch;
  #queue: Queued[] = [];
  #running: Promise<void> | null = null;

  constructor(transact: TransactBatch) {
    this.#transact = transact;
  }

  /** Rejects with RECEIPT_STORE_UNAVAILABLE when the batch was not committed, or with what `conclude` threw. */
  submit<Result>(entry: LedgerEntry<Result>): Promise<Result> {
    if (this.#queue.length >= queueEntriesMax)
      return Promise.reject(unavailable(new Error('the ledger queue is full')));
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, resolve: resolve, reject }); // Result is what conclude returned
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything submitted so far is answered. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchEntriesMax);
      await this.#commit(batch);
    }
    this.#running = null;
  }

  async #commit(batch: Queued[]): Promise<void> {
    let concluded: Concluded[] = [];
    try {
      await this.#transact(mergeReads(batch.map(({ entry }) => entry)), (view) => {
        concluded = batch.map((queued) => conclude(queued, view));
      });
    } catch (error) {
      await this.#refuse(batch, error);
      return;
    }
    for (const done of concluded) {
      if ('error' in done) done.queued.reject(done.error);
      else done.queued.resolve(done.result);
    }
  }

  /**
   * One entry that the database refuses must not take its neighbours down: each of them is tried alone. When nothing can be
   * committed at all, the store says so by an AppError, and is not asked again for each of those who wait.
   */
  async #refuse(batch: Queued[], error: unknown): Promise<void> {
    if (batch.length === 1 || isAppError(error)) {
      for (const { reject } of batch) reject(isAppError(error) ? error : unavailable(error));
      return;
    }
    for (const queued of batch) await this.#commit([queued]);
  }
}

function conclude(queued: Queued, batch: LedgerBatch): Concluded {
  try {
    return { queued, result: queued.entry.conclude(batch) };
  } catch (error) {
    return { queued, error };
  }
}

export function unavailable(cause: unknown): AppError {
  return new AppError('RECEIPT_STORE_UNAVAILABLE', 'The decision could not be sealed, so nothing was executed', {
    cause,
  });
}
