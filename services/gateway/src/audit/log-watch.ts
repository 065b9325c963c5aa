import { setTimeout as sleep } from 'node:timers/promises';

type WatchOptions = {
  /** The places of the last entries of these logs. */
  readEnds(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  onFailure(error: unknown): void;
};

/** The longest delay before commits of other processes are seen. */
const lookEveryMs = 300;

type Waiting = { workspaceId: string; seq: number; wake: () => void };

/** Reads the ends of followed logs, once for all followers. Without followers it reads nothing. */
export class LogWatch {
  readonly #options: WatchOptions;
  readonly #waiting = new Set<Waiting>();
  #looking: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Resolves when the log of a workspace has an entry after `seq`, the signal aborts, or the watch closes. */
  goesOn({ workspaceId, seq }: { workspaceId: string; seq: number }, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const waiting = { workspaceId, seq, wake };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', wake);
      this.#looking ??= this.#look();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { wake } of [...this.#waiting]) wake();
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosed) {
      await sleep(lookEveryMs);
      try {
        await this.#wakeWhoMay();
      } catch (error) {
        this.#options.onFailure(error);
      }
    }
    this.#looking = null;
  }

  async #wakeWhoMay(): Promise<void> {
    const followed = new Set([...this.#waiting].map(({ workspaceId }) => workspaceId));
    const ends = await this.#options.readEnds([...followed]);
    for (const { workspaceId, seq, wake } of [...this.#waiting]) if ((ends.get(workspaceId) ?? 0) > seq) wake();
  }
}
