import { shuffle } from './shuffle.mjs';

/** The order of files follows from the seed of the run alone: no file may need another one to run before it. */
export default class Shuffled {
  #seed;

  constructor({ globalConfig }) {
    this.#seed = globalConfig.seed;
  }

  sort(tests) {
    return shuffle(tests.toSorted(byPath), this.#seed);
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
