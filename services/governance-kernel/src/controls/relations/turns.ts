/** Serialises work per tenant within this process. Simultaneous changes would conflict, and all but one would fail. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    const mine = (this.#last.get(tenant) ?? Promise.resolve()).then(work);
    const ended = mine
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(tenant) === ended) this.#last.delete(tenant);
      });
    this.#last.set(tenant, ended);
    return mine;
  }
}
