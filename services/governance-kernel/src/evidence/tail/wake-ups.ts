/** Wakes all current waiters, but not later ones. */
export class WakeUps {
  readonly #waiting = new Set<() => void>();

  wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next wake-up, when the signal aborts, or after the timeout. */
  wait({ signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number }): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const wake = () => {
        this.#waiting.delete(wake);
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake);
      if (timeoutMs !== undefined) timer = setTimeout(wake, timeoutMs);
    });
  }
}
