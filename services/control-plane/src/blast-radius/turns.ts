import { AppError } from '@countersign/contracts';

type Queue = { last: Promise<unknown>; length: number };

/** One piece of work at a time for each name: what is expensive for us is asked for cheaply. Throws RATE_LIMITED where too many wait. */
export class Turns {
  readonly #queues = new Map<string, Queue>();
  readonly #waitingMax: number;

  constructor({ waitingMax = Infinity }: { waitingMax?: number } = {}) {
    this.#waitingMax = waitingMax;
  }

  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#queues.get(name) ?? { last: Promise.resolve(), length: 0 };
    if (before.length > this.#waitingMax) throw new AppError('RATE_LIMITED', 'Too many wait for this: ask again later');
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
