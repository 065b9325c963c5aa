type Queue = { last: Promise<unknown>; length: number };

/** Runs the tasks with the same name in turn, since a task is cheap to request and expensive to run. */
export class Turns {
  readonly #queues = new Map<string, Queue>();

  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#queues.get(name) ?? { last: Promise.resolve(), length: 0 };
    const turn = before.last.then(work, work);
    const queue = { last: turn, length: before.length + 1 };
    this.#queues.set(name, queue);
    try {
      return await turn;
    } finally {
      const now = this.#queues.get(name);
      if (now !== undefined) now.length -= 1;
      if (now?.length === 0) this.#queues.delete(name);
    }
  }
}
