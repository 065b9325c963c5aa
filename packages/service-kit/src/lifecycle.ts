import type { Log } from './logger.ts';

export type Lifecycle = {
  /** True as soon as the process is told to stop: readiness says so before anything is closed. */
  isStopping(): boolean;
  beginStop(): void;
  /** Called before anything is closed, for parts that go by what others close: none of them tells as a fault what the stop does. */
  beforeClose(run: () => void): void;
  /** Registers what is to be closed; the last registered is closed first. */
  onClose(name: string, close: () => Promise<void> | void): void;
  /** Gives the stop this much more time, for parts that wait for work with deadlines of its own. */
  allow(ms: number): void;
  readonly allowedMs: number;
  /** Between saying "not ready" and the first close, load balancers need at least this long to notice. */
  giveNotice(ms: number): void;
  readonly noticeMs: number;
  /** Closes everything in reverse, going on past failures. Resolves to whether all of it closed. Safe to call twice. */
  stop(): Promise<boolean>;
};

/** The order in which a process comes down. */
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
