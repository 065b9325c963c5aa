/** The order of files follows from the seed of the run alone: no test may need another one to run before it. */
export default class Shuffled {
  #seed;

  constructor({ globalConfig }) {
    this.#seed = globalConfig.seed;
  }

  sort(tests) {
    const places = new Map(tests.map((test) => [test, placeOf(`${this.#seed} ${test.path}`)]));
    return [...tests].sort((a, b) => places.get(a) - places.get(b));
  }

  allFailedTests(tests) {
    return tests;
  }

  shard(tests) {
    return tests;
  }

  cacheResults() {}
}

/** FNV-1a. */
function placeOf(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  return hash >>> 0;
}
