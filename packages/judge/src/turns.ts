/**
 * Runs one piece of work at a time. Callers take turns, so a caller with much work delays another caller by only one
 * piece.
 */
export class Turns {
  readonly #limits: { ofCaller: number; ofAll: number };
  /** Waiting work by caller. The caller whose turn is next is first. */
  readonly #queues = new Map<string, (() => void)[]>();
  #waiting = 0;
  #isRunning = false;

  /** The number of pieces that may wait, of one caller and in total. */
  constructor(limits: { ofCaller: number; ofAll: number }) {
    this.#limits = limits;
  }

  /** Runs `work` when it is the turn of its caller. Throws the error from `refused` when too much work waits. */
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

  /** Starts the next piece, if there is one. A caller with more work moves behind the others. */
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
