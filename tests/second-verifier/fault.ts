/** Evidence that breaks a clause, with the code of that clause. */
export class Fault extends Error {
  readonly code: string;

  constructor(code: string, about: string) {
    super(`${code}: ${about}`);
    this.code = code;
  }
}

/** Throws the {@link Fault} of a clause that does not hold. `about` is its number. */
export function need(holds: boolean, code: string, about: string): asserts holds {
  if (!holds) throw new Fault(code, about);
}

/** A value that the clause requires. */
export function present<T>(value: T | null | undefined, code: string, about: string): T {
  if (value === null || value === undefined) throw new Fault(code, about);
  return value;
}
