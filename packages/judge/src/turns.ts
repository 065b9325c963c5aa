/** Work that runs one piece at a time. Callers take turns, so that one caller with much work delays another by one piece. */
export class Turns {
  readonly #limits: { ofCaller: number; ofAll: number };
  /** Waiting work by caller. The caller whose turn is next is first. */
  readonly #queues = new Map<string, (() => void)[]>();
  #waiting = 0;
  #isRunning = false;

  /** How many pieces may wait, of one caller and of all. */
  constructor(limits: { ofCaller: number; ofAll: number }) {
    this.#limits = limits;
  }

  /** Runs `work` when it is the turn of its caller. Throws what `refused` returns when too much work waits. */
  async run<Result>(caller: string, work: () => Promise<Result>, refused: () => Error): Promise<Result> {
    if (this.#isRunning) await this.#wait(caller, refused);
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(caller: string, refused: () => Error): Promise<void> {
    const queue = this.#queues.get(caller) ?? [];
    if (queue.length >= this.#limits.ofCaller || this.#waiting >= this.#limits.ofAll) throw refused();
    this.#waiting += 1;
    this.#queues.set(caller, queue);
    return new Promise((resolve) => queue.push(resolve));
  }

  /** Resumes the next piece, or none. A caller with more work goes behind the others. */
  #next(): void {
    const [first] = this.#queues;
    if (first === undefined) {
      this.#isRunning = false;
      return;
    }
    const [caller, queue] = first;
    this.#queues.delete(caller);
    const resume = queue.shift();
    if (queue.length > 0) this.#queues.set(caller, queue);
    this.#waiting -= 1;
    resume?.();
  }
}
