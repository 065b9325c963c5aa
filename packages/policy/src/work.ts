/** Steps that read one character each, a few nanoseconds: so many are a unit. */
const stepsPerUnit = 16;

/** The work that one decision may take, in bodies of a loop: about an eighth of a microsecond each. */
export class Work {
  #left: number;

  constructor(units: number) {
    this.#left = units;
  }

  /** False when it is more than is left. */
  take(units: number): boolean {
    this.#left -= units;
    return !this.isSpent;
  }

  takeSteps(steps: number): boolean {
    return this.take(steps / stepsPerUnit);
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  get isSpent(): boolean {
    return !(this.#left >= 0);
  }
}

/** About a twentieth of a second for all that a policy reads of one call: more is an attack on the decision path, not a call. */
export const decisionWorkMax = 400_000;

export function decisionWork(): Work {
  return new Work(decisionWorkMax);
}

/** For what was bounded when the policy was compiled. */
export function boundedBefore(): Work {
  return new Work(Infinity);
}
