export type HeldTimers = {
  /** Delays of the waiting timers, shortest first. */
  waitingMs(): number[];
  /** Runs the timers that are due within `ms` in their order, and the timers that they set. */
  pass(ms: number): void;
  /** Restores `setTimeout` and `clearTimeout`. Timers that still wait never run. */
  release(): void;
};

type Run = (...args: unknown[]) => void;

/**
 * From now on, timers of these delays that this process sets with the global `setTimeout` run only through `pass`.
 * Other timers, `node:timers/promises` and timers inside Node use real time.
 */
export function holdTimers(delaysMs: readonly number[]): HeldTimers {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const waiting = new Set<HeldTimer>();
  let nowMs = 0;
  const setHeld = (run: Run, ms = 0, ...args: unknown[]) => {
    if (!delaysMs.includes(ms)) return set(run, ms, ...args);
    const timer = new HeldTimer(waiting, { run: () => run(...args), atMs: () => nowMs + ms });
    return timer.refresh();
  };
  const clearHeld = (timer: unknown) =>
    timer instanceof HeldTimer ? timer.close() : clear(timer as Parameters<typeof clear>[0]);
  globalThis.setTimeout = Object.assign(setHeld as unknown as typeof set, { __promisify__: set.__promisify__ }); // as Node declares it
  globalThis.clearTimeout = clearHeld;
  const inOrder = () => [...waiting].sort((a, b) => a.dueMs - b.dueMs);
  return {
    waitingMs: () => inOrder().map(({ dueMs }) => dueMs - nowMs),
    pass: (ms) => {
      const endMs = nowMs + ms;
      for (let [next] = inOrder(); next !== undefined && next.dueMs <= endMs; [next] = inOrder()) {
        nowMs = next.dueMs;
        next.fire();
      }
      nowMs = endMs;
    },
    release: () => {
      globalThis.setTimeout = set;
      globalThis.clearTimeout = clear;
      waiting.clear();
    },
  };
}

/** The used members of the timer that Node's `setTimeout` returns. */
class HeldTimer {
  dueMs = 0;
  readonly #waiting: Set<HeldTimer>;
  readonly #set: { run(): void; atMs(): number };

  constructor(waiting: Set<HeldTimer>, set: { run(): void; atMs(): number }) {
    this.#waiting = waiting;
    this.#set = set;
  }

  fire(): void {
    this.#waiting.delete(this);
    this.#set.run();
  }

  refresh(): this {
    this.dueMs = this.#set.atMs();
    this.#waiting.add(this);
    return this;
  }

  close(): this {
    this.#waiting.delete(this);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}
