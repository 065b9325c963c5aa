/** The opened resources, closed in reverse order in any case. */
export class Closing {
  readonly #ends: (() => Promise<void>)[] = [];

  add(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /** Closes everything, even when a close fails. Throws the first failure afterwards. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const end of this.#ends.splice(0).reverse()) {
      await end().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Runs work with its own Closing, and closes it afterwards. */
export async function closingAfter<Result>(work: (closing: Closing) => Promise<Result>): Promise<Result> {
  const closing = new Closing();
  try {
    return await work(closing);
  } finally {
    await closing.close();
  }
}
