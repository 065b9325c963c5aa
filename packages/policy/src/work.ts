/** The number of steps that cost one unit. A step reads one character, in a few nanoseconds. */
const stepsPerUnit = 16;

/**
 * The work that one decision may take, in units. A unit is one run of a loop body, about an eighth of a microsecond.
 */
export class Work {
  #remaining: number;

  constructor(units: number) {
    this.#remaining = units;
  }

  /** Returns `false` when too little work is left. */
  take(units: number): boolean {
    this.#remaining -= units;
    return !this.isSpent;
  }

  takeSteps(steps: number): boolean {
    return this.take(steps / stepsPerUnit);
  }

  get left(): number {
    return Math.max(0, this.#remaining);
  }

  get isSpent(): boolean {
    return !(this.#remaining >= 0);
  }
}

/**
 * About a twentieth of a second for everything that a policy reads of one call. A call that needs more is an attack.
 */
export const decisionWorkMax = 400_000;

export function decisionWork(): Work {
  return new Work(decisionWorkMax);
}

/** Work without a limit, for what the compiler has already limited. */
export function boundedBefore(): Work {
  return new Work(Infinity);
}
