/** What may be done for one decision, in bodies of a loop: about an eighth of a microsecond each. */
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

  get left(): number {
    return Math.max(0, this.#left);
  }

  get isSpent(): boolean {
    return !(this.#left >= 0);
  }
}
