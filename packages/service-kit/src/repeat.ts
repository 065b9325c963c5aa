import type { ClockGuard } from './clock-guard.ts';
import type { HealthCheck } from './health.ts';

type RepeatOptions = {
  run(): Promise<unknown>;
  intervalMs: number;
  /** No pass begins while the clock of this process is wrong, since it would end, send or remove what is not due. */
  clockGuard: Pick<ClockGuard, 'isNear'>;
  onFailure(error: unknown): void;
};

export type Repeated = {
  /** Rejects when the last pass failed or did not begin, which no other code would notice. */
  check: HealthCheck;
  /** Starts no further pass. Resolves when the running one has ended. */
  close(): Promise<void>;
};

/** Periodic work, never twice at once. A failed pass is reported, and the next one tries again. */
export function repeat({ run, intervalMs, clockGuard, onFailure }: RepeatOptions): Repeated {
  let isWell = true;
  let passing: Promise<void> | null = null;
  const pass = async () => {
    try {
      isWell = await clockGuard.isNear(); // the guard logs the distance
      if (isWell) await run();
    } catch (error) {
      isWell = false;
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
      if (!isWell) throw new Error('The last run of this job failed or did not begin');
    },
    close: async () => {
      clearInterval(timer);
      await passing;
    },
  };
}
