import type { HealthCheck } from './health.ts';

type RepeatOptions = {
  run(): Promise<unknown>;
  intervalMs: number;
  onFailure(error: unknown): void;
};

export type Repeated = {
  /** Rejects while the last pass that ended had failed: nobody else waits for this work and would notice. */
  check: HealthCheck;
  /** No further pass; resolves when the one that runs has ended. */
  close(): Promise<void>;
};

/** Work that a clock starts again and again, never twice at once. A pass that fails is reported, and the next one tries anew. */
export function repeat({ run, intervalMs, onFailure }: RepeatOptions): Repeated {
  let hasFailed = false;
  let passing: Promise<void> | null = null;
  const pass = async () => {
    try {
      await run();
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      onFailure(error);
    }
    passing = null;
  };
  const timer = setInterval(() => {
    passing ??= pass();
  }, intervalMs);
  timer.unref();
  return {
    check: async () => {
      if (hasFailed) throw new Error('The last pass failed');
    },
    close: async () => {
      clearInterval(timer);
      await passing;
    },
  };
}
