const batchMax = 100;

type Dropped = 'full' | 'not_written';

type Options<Entry> = {
  /** The most reports in the queue. Further reports are dropped, which does not affect the answers of their calls. */
  waitingMax: number;
  write(batch: readonly Entry[]): Promise<void>;
  onDropped(why: Dropped, count: number, error?: unknown): void;
};

/** Writes in the background, one batch at a time, so a loop of failing calls uses one connection and few statements. */
export class ReportWriter<Entry> {
  readonly #options: Options<Entry>;
  #waiting: Entry[] = [];
  #writing: Promise<void> | null = null;
  #isStopping = false;

  constructor(options: Options<Entry>) {
    this.#options = options;
  }

  /** Never waits, and never throws. */
  add(entry: Entry): void {
    if (this.#waiting.length >= this.#options.waitingMax) {
      this.#options.onDropped('full', 1);
      return;
    }
    this.#waiting.push(entry);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when the queue is empty, or when a batch could not be written. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Waits, so that the answer of the failed call is sent before its report is written.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax);
      await this.#options.write(batch).catch((error: unknown) => {
        const remaining = this.#isStopping ? this.#waiting.splice(0).length : 0;
        this.#options.onDropped('not_written', batch.length + remaining, error);
      });
    }
    this.#writing = null;
  }
}
