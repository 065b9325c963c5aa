import type { AppError } from '@countersign/contracts';
import { clockSkewMaxMs, sureSkewMs, type ClockReading } from './clock-skew.ts';
import type { HealthCheck } from './health.ts';
import type { Log } from './logger.ts';

/** How long one reading of the database's clock counts for repeated work. */
const readingCountsMs = 5_000;
/** The machine's clock was set if its difference from the monotonic clock changed by more than this. */
const driftMaxMs = 1_000;

export type ClockGuardDeps = {
  /**
   * The clock that is compared with that of the database. Tests may move the time of a service, and never this clock.
   */
  machineClock: () => Date;
  /** A monotonic time in milliseconds, independent of the machine's clock. */
  monotonicMs?: () => number;
  readDatabaseMs(): Promise<number>;
  /** The error for a caller while the clock is wrong. `distance` is a text such as `30 s ahead of the database's`. */
  refusal(distance: string): AppError;
  log: Log;
};

/**
 * Compares the clock of a process with that of the database, which all services share. While the clock is wrong, the
 * process is not ready, and starts no work that ends, removes or sends something. The log has one line at the beginning
 * of that state and one at its end.
 */
export class ClockGuard {
  readonly #deps: ClockGuardDeps;
  readonly #monotonicMs: () => number;
  #isFar = false;
  /** The clocks of the machine at the last reading of the database that showed no great difference. */
  #near: { machineMs: number; monotonicMs: number } | null = null;

  constructor(deps: ClockGuardDeps) {
    this.#deps = deps;
    this.#monotonicMs = deps.monotonicMs ?? (() => performance.now());
  }

  /** The current time of the machine. */
  nowMs(): number {
    return this.#deps.machineClock().getTime();
  }

  /** The check for readiness. */
  readonly check: HealthCheck = () => this.assertNear();

  /** Throws the service's refusal while the clock is wrong, and rejects when the database does not answer. */
  async assertNear(readDatabaseMs = this.#deps.readDatabaseMs): Promise<void> {
    this.assertNearIn(await this.#read(readDatabaseMs));
  }

  /**
   * Like `assertNear`, for repeated work: resolves to whether the clocks are near each other. A reading counts for five
   * seconds, unless the machine's clock is set during that time. Rejects when the database must be read and does not
   * answer.
   */
  async isNear(): Promise<boolean> {
    if (this.#isStillNear()) return true;
    const isNear = this.#isNearIn(await this.#read(this.#deps.readDatabaseMs));
    this.#near = isNear ? { machineMs: this.nowMs(), monotonicMs: this.#monotonicMs() } : null;
    return isNear;
  }

  /** Throws the service's refusal when a reading shows that the clock is wrong. */
  assertNearIn(reading: ClockReading): void {
    if (!this.#isNearIn(reading)) throw this.#deps.refusal(distanceOf(sureSkewMs(reading)));
  }

  /** Records that the database found no great difference between the clocks. */
  noteNear(): void {
    if (this.#isFar) this.#deps.log.info('clock.near_again');
    this.#isFar = false;
  }

  #isStillNear(): boolean {
    if (this.#near === null || this.#isFar) return false;
    const passedMs = this.#monotonicMs() - this.#near.monotonicMs;
    const shownMs = this.nowMs() - this.#near.machineMs;
    return passedMs < readingCountsMs && Math.abs(shownMs - passedMs) <= driftMaxMs;
  }

  #isNearIn(reading: ClockReading): boolean {
    const skewMs = sureSkewMs(reading);
    if (Math.abs(skewMs) <= clockSkewMaxMs) {
      this.noteNear();
      return true;
    }
    if (!this.#isFar) this.#deps.log.error('clock.far_off', { skew_ms: skewMs, skew_ms_max: clockSkewMaxMs });
    this.#isFar = true;
    this.#near = null;
    return false;
  }

  async #read(readDatabaseMs: () => Promise<number>): Promise<ClockReading> {
    const beforeMs = this.nowMs();
    const databaseMs = await readDatabaseMs();
    return { beforeMs, databaseMs, afterMs: this.nowMs() };
  }
}

function distanceOf(skewMs: number): string {
  return `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`;
}
