/**
 * Replaces `AsyncLocalStorage` in Jest for tests that run one after another. A storage holds the running test. Jest
 * makes one storage for each file and never removes it. Node copies all of them with each promise and socket of the
 * worker, which took a seventh of the time after 80 files. Late failures count for the test that runs at that time.
 */
export class SerialStorage {
  #store;

  getStore() {
    return this.#store;
  }

  /** @param {() => Promise<unknown>} work */
  async run(store, work) {
    const outer = this.#store;
    this.#store = store;
    try {
      return await work();
    } finally {
      this.#store = outer;
    }
  }
}
