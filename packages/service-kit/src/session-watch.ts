import { setTimeout as sleep } from 'node:timers/promises';
import type { SignInId } from '@countersign/contracts';

type WatchOptions = {
  /** The sessions among these that are still live. */
  readLive(ids: readonly SignInId[]): Promise<ReadonlySet<SignInId>>;
  onFailure(error: unknown): void;
  /** The pause between two checks. The default is a timer. */
  pause?(ms: number): Promise<unknown>;
};

/** An ended session loses its open streams within a second. */
const lookEveryMs = 300;
/** The longest time for which the state of sessions may be unknown. After it, a possibly stolen stream is cut. */
const unknownMaxMs = 10_000;

/**
 * Checks whether the sessions of open streams are still live, once for all of them, and not at all without streams.
 * Each process checks its own streams, so no other process needs to know them.
 */
export class SessionWatch {
  readonly #options: WatchOptions;
  readonly #watched = new Map<SignInId, Set<AbortController>>();
  #looking: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /**
   * Aborted when the session ends, when its state is unknown for too long, and by `stop`. It is watched until `until`
   * aborts.
   */
  untilOver(id: SignInId, until: AbortSignal): AbortSignal {
    const over = new AbortController();
    if (until.aborted || this.#isStopped) {
      over.abort();
      return over.signal;
    }
    const open = this.#watched.get(id) ?? new Set();
    this.#watched.set(id, open.add(over));
    until.addEventListener('abort', () => this.#forget(id, over), { once: true });
    this.#looking ??= this.#look();
    return over.signal;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cut([...this.#watched.keys()]);
    await this.#looking;
  }

  #forget(id: SignInId, over: AbortController): void {
    const open = this.#watched.get(id);
    open?.delete(over);
    if (open?.size === 0) this.#watched.delete(id);
  }

  async #look(): Promise<void> {
    let knownAtMs = performance.now();
    while (this.#watched.size > 0 && !this.#isStopped) {
      await (this.#options.pause ?? sleep)(lookEveryMs);
      const ids = [...this.#watched.keys()];
      try {
        const live = await this.#options.readLive(ids);
        knownAtMs = performance.now();
        this.#cut(ids.filter((id) => !live.has(id)));
      } catch (error) {
        this.#unknown(error, performance.now() - knownAtMs > unknownMaxMs ? ids : []);
      }
    }
    this.#looking = null;
  }

  #unknown(error: unknown, tooLong: readonly SignInId[]): void {
    if (this.#isStopped) return; // the process that knows the sessions may be closing too
    this.#options.onFailure(error);
    this.#cut(tooLong);
  }

  #cut(ids: readonly SignInId[]): void {
    for (const id of ids) {
      const open = this.#watched.get(id) ?? [];
      this.#watched.delete(id);
      for (const over of open) over.abort();
    }
  }
}
