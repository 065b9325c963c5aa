/** An error for evidence that breaks a clause. It has the code of the clause. */
export class Fault extends Error {
  readonly code: string;

  constructor(code: string, about: string) {
    super(`${code}: ${about}`);
    this.code = code;
  }
}

/** Throws a {@link Fault} if a clause does not hold. `about` is the number of the clause. */
export function need(holds: boolean, code: string, about: string): asserts holds {
  if (!holds) throw new Fault(code, about);
}

/** Returns a required value. Throws a {@link Fault} if it is absent. */
export function present<T>(value: T | null | undefined, code: string, about: string): T {
  if (value === null || value === undefined) throw new Fault(code, about);
  return value;
}
