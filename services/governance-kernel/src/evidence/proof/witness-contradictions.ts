/** A witness cosigned a tree that the log does not extend, so receipts that it saw are gone or replaced. */
export class WitnessContradicts extends Error {
  override readonly name = 'WitnessContradicts';
}

/** The last contradiction of each witness. In memory only, since a kernel asks each witness again when it starts. */
export class WitnessContradictions {
  readonly #problems = new Map<string, string>();

  set(witness: string, problem: string): void {
    this.#problems.set(witness, problem);
  }

  /** Called when the witness has cosigned the current log, which ends its contradiction. */
  clear(witness: string): void {
    this.#problems.delete(witness);
  }

  list(): { witness: string; problem: string }[] {
    return [...this.#problems].map(([witness, problem]) => ({ witness, problem }));
  }
}
