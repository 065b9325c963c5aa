export type Deadline = {
  /** Aborts with a `TimeoutError` when the time is over, or with the reason of the parent signal. */
  readonly signal: AbortSignal;
  /** True when the time ran out; false when the parent aborted first, or nothing has ended the deadline yet. */
  isOver(): boolean;
  /** Stops the timer. Call it when the work is done. */
  clear(): void;
};

/**
 * A deadline of `ms` milliseconds, joined with a parent signal. It refers to its timer, so a garbage collection cannot
 * end it. `AbortSignal.any([signal, AbortSignal.timeout(ms)])` cannot replace it. On Node 20 its signals refer to each
 * other weakly, so after a garbage collection they never abort.
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

/** A deadline does not keep the process alive. In browsers, timers are numbers without `unref`. */
function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref(): void }).unref(); // Node's timers are objects
}
