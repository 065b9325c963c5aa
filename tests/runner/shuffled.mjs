import { hasOwnBudget } from './budgets.mjs';
import { shuffle } from './shuffle.mjs';

/**
 * Orders the files by the seed of the run alone, since no file may depend on an earlier one. Files with their own
 * budget come in the first half. Otherwise the last of them would keep one processor busy while the others are idle.
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
