import { AppError } from '@countersign/contracts';

/** The limit for all visitors together. */
const decisionsPerHourMax = 1_000;
const hourMs = 3_600_000;

/** Limits the receipts that all visitors of the demo together add to the log, which never shrinks. */
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
  return new AppError(
    'RATE_LIMITED',
    'The demo has used up its decisions for this hour. Start your own kernel with make up',
    {
      headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
    },
  );
}
