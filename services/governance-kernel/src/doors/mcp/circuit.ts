type CircuitOptions = {
  /** Consecutive failures that open the circuit. */
  failuresMax: number;
  /** The longest time of an attempt. After it, a trial without a result permits the next trial. */
  attemptMsMax: number;
  now: () => number;
};

type Attempt = { succeeded(): void; failed(): void };

const waitFirstMs = 1_000;
const waitMaxMs = 30_000;

/**
 * Stops attempts after several consecutive failures. After a wait, which doubles, one attempt is permitted as a trial.
 * Attempts that began before the circuit opened cannot lengthen the wait, since they failed for the same cause.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  #failures = 0;
  /** The number of openings since the last success. */
  #openings = 0;
  #retryAtMs = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  get isOpen(): boolean {
    return this.#openings > 0;
  }

  /** The time of the next trial, by the clock of `now`. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** Whether `begin` would permit an attempt. */
  get admits(): boolean {
    return !this.isOpen || this.#options.now() >= this.#retryAtMs;
  }

  /** `null` when no attempt is permitted now. */
  begin(): Attempt | null {
    if (!this.admits) return null;
    const { now, attemptMsMax, failuresMax } = this.#options;
    if (this.isOpen) this.#retryAtMs = now() + attemptMsMax;
    const openings = this.#openings;
    return {
      succeeded: () => this.#close(),
      failed: () => {
        if (openings !== this.#openings) return;
        this.#failures += 1;
        if (this.#failures >= failuresMax) this.#open();
      },
    };
  }

  #open(): void {
    this.#retryAtMs = this.#options.now() + Math.min(waitMaxMs, waitFirstMs * 2 ** Math.min(this.#openings, 16));
    this.#openings += 1;
  }

  #close(): void {
    this.#failures = 0;
    this.#openings = 0;
  }
}
