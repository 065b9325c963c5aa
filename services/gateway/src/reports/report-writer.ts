const batchMax = 100;

type Dropped = 'full' | 'not_written';

type Options<Entry> = {
  /**
   * The most reports that wait for the database; later ones are dropped, and their calls were answered all the same.
   */
  waitingMax: number;
  write(batch: readonly Entry[]): Promise<void>;
  onDropped(why: Dropped, count: number, error?: unknown): void;
};

/** Writes in the background, one batch at a time: a loop of failing calls takes one connection and few statements. */
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

  /** Waits until nothing is left to write, or one batch could not be written. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // The answer goes out first.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax);
      await this.#options.write(batch).catch((error: unknown) => {
        const left = this.#isStopping ? this.#waiting.splice(0).length : 0;
        this.#options.onDropped('not_written', batch.length + left, error);
      });
    }
    this.#writing = null;
  }
}
