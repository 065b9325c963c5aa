import { AppError } from '@countersign/contracts';

/** Visitors of a day leave less in the log than one busy agent in a minute. */
const decisionsPerHourMax = 1_000;
const hourMs = 3_600_000;

/** The most receipts that all visitors of the demo together may add to the log, which nothing is ever removed from. */
export class DemoAllowance {
  readonly #clock: () => Date;
  #hour = { startMs: 0, decisions: 0 };

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /** Counts one decision. Throws RATE_LIMITED. */
  take(): void {
    const nowMs = this.#clock().getTime();
    if (nowMs - this.#hour.startMs >= hourMs) this.#hour = { startMs: nowMs, decisions: 0 };
    if (this.#hour.decisions >= decisionsPerHourMax) throw tooMany(this.#hour.startMs + hourMs - nowMs);
    this.#hour.decisions += 1;
  }
}

function tooMany(waitMs: number): AppError {
  return new AppError('RATE_LIMITED', 'The demo has made its decisions of this hour; run your own with make up', {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  });
}
