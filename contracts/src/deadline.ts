export type Deadline = {
  /** Aborts with a `TimeoutError` when the time is over, or with the reason of the parent signal. */
  readonly signal: AbortSignal;
  /** True when the time ran out; false when the parent aborted first, or neither did. */
  isOver(): boolean;
  /** Ends the wait: call it when the work is done, or the timer stays until its time. */
  clear(): void;
};

/**
 * A deadline of `ms` milliseconds, joined with a parent signal. It holds its timer. On Node 20 the signals of
 * `AbortSignal.any([signal, AbortSignal.timeout(ms)])` refer to each other weakly, so after a garbage collection they never abort.
 */
export function startDeadline({ ms, signal: parent }: { ms: number; signal?: AbortSignal | undefined }): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort(new DOMException(`Not done within ${ms} ms`, 'TimeoutError'));
  }, ms);
  letProcessEnd(timer);
  const forward = () => controller.abort(parent?.reason);
  const clear = () => {
    clearTimeout(timer);
    parent?.removeEventListener('abort', forward);
  };
  controller.signal.addEventListener('abort', clear, { once: true });
  if (parent?.aborted) forward();
  else parent?.addEventListener('abort', forward, { once: true });
  return { signal: controller.signal, isOver: () => isOver, clear };
}

/** A deadline alone keeps no process alive. Browsers number their timers, and have no `unref`. */
function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref(): void }).unref(); // Node's timers are objects
}
