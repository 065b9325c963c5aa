/** Work for one tenant after the other, within this process: what would begin at the same time could only lose to what began before. */
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
