import { hasOwnBudget } from './budgets.mjs';
import { shuffle } from './shuffle.mjs';

/**
 * The order of files follows from the seed of the run alone: no file may need another one to run before it. Files with a budget of their own
 * come in the first half, or the last of them would keep one processor busy while the others have nothing left to do.
 */
export default class Shuffled {
  #seed;

  constructor({ globalConfig }) {
    this.#seed = globalConfig.seed;
  }

  sort(tests) {
    const order = shuffle(tests.toSorted(byPath), this.#seed);
    const middle = Math.ceil(order.length / 2);
    const isLate = (test, place) => place >= middle && hasOwnBudget(test.path);
    return [
      ...order.slice(0, middle),
      ...order.filter(isLate),
      ...order.slice(middle).filter((test) => !hasOwnBudget(test.path)),
    ];
  }

  allFailedTests(tests) {
    return tests;
  }

  shard(tests) {
    return tests;
  }

  cacheResults() {}
}

const byPath = (a, b) => (a.path < b.path ? -1 : 1);
