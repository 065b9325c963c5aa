import type { AppError } from '@countersign/contracts';
import { clockSkewMaxMs, sureSkewMs, type ClockReading } from './clock-skew.ts';
import type { HealthCheck } from './health.ts';
import type { Log } from './logger.ts';

export type ClockGuardParts = {
  /**
   * The clock that is compared with the database's. A test may move the time that a service uses, and never this one.
   */
  machineClock: () => Date;
  readDatabaseMs(): Promise<number>;
  /** The error for a caller. `distance` is such as `30 s ahead of the database's`. */
  refusal(distance: string): AppError;
  log: Log;
};

/**
 * Compares the clock of a process with the database's, which all services share. While it is far off, the process ends, removes, sends
 * and begins nothing, and is not ready. The log has one line when that begins and one when it is over.
 */
export class ClockGuard {
  readonly #parts: ClockGuardParts;
  #isFar = false;

  constructor(deps: ClockGuardParts) {
    this.#parts = deps;
  }

  /** The time of the machine. */
  nowMs(): number {
    return this.#parts.machineClock().getTime();
  }

  /** For readiness. */
  readonly check: HealthCheck = () => this.assertNear();

  /** Throws the service's refusal while the clock is far off, and rejects when the database does not answer. */
  async assertNear(readDatabaseMs = this.#parts.readDatabaseMs): Promise<void> {
    this.assertNearIn(await this.#read(readDatabaseMs));
  }

  /** The same for work that waits instead. Rejects when the database does not answer. */
  async isNear(): Promise<boolean> {
    return this.#isNearIn(await this.#read(this.#parts.readDatabaseMs));
  }

  /** Throws the service's refusal where a reading shows that the clock is far off. */
  assertNearIn(reading: ClockReading): void {
    if (!this.#isNearIn(reading)) throw this.#parts.refusal(distanceOf(sureSkewMs(reading)));
  }

  /** The database has found the clock near. */
  noteNear(): void {
    if (this.#isFar) this.#parts.log.info('clock.near_again');
    this.#isFar = false;
  }

  #isNearIn(reading: ClockReading): boolean {
    const skewMs = sureSkewMs(reading);
    if (Math.abs(skewMs) <= clockSkewMaxMs) {
      this.noteNear();
      return true;
    }
    if (!this.#isFar) this.#parts.log.error('clock.far_off', { skew_ms: skewMs, skew_ms_max: clockSkewMaxMs });
    this.#isFar = true;
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
