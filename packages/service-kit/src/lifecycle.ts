import type { Log } from './logger.ts';

export type Lifecycle = {
  /** `true` as soon as the process gets a stop signal. Readiness reports it before anything is closed. */
  isStopping(): boolean;
  beginStop(): void;
  /**
   * Registers a function that runs before anything is closed. Parts that depend on others use it, so that they do not
   * report the stop as a fault.
   */
  beforeClose(run: () => void): void;
  /** Registers a part to close. The last registered is closed first. */
  onClose(name: string, close: () => Promise<void> | void): void;
  /** Extends the time of the stop, for parts that wait for work with its own deadlines. */
  allow(ms: number): void;
  readonly allowedMs: number;
  /** Gives load balancers this time between "not ready" and the first close, so that they notice the stop. */
  giveNotice(ms: number): void;
  readonly noticeMs: number;
  /**
   * Closes everything in reverse order, even after failures. Resolves to whether all parts closed. Safe to call twice.
   */
  stop(): Promise<boolean>;
};

/** Controls the order in which a process stops. */
export function createLifecycle(log: Log): Lifecycle {
  const closers: { name: string; close: () => Promise<void> | void }[] = [];
  const beforehand: (() => void)[] = [];
  let isStopping = false;
  let allowedMs = 0;
  let noticeMs = 0;
  let stopped: Promise<boolean> | null = null;

  const closeAll = async () => {
    isStopping = true;
    let clean = true;
    for (const run of beforehand) run();
    for (const { name, close } of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        clean = false;
        log.error('service.close_failed', { part: name, error });
      }
    }
    return clean;
  };
  return {
    isStopping: () => isStopping,
    beginStop: () => {
      isStopping = true;
    },
    beforeClose: (run) => void beforehand.push(run),
    onClose: (name, close) => void closers.push({ name, close }),
    allow: (ms) => {
      allowedMs += ms;
    },
    get allowedMs() {
      return allowedMs;
    },
    giveNotice: (ms) => {
      noticeMs = Math.max(noticeMs, ms);
    },
    get noticeMs() {
      return noticeMs;
    },
    stop: () => (stopped ??= closeAll()),
  };
}
