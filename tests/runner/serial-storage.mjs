/**
 * The replacement of `AsyncLocalStorage` in Jest, for tests that run one after another: it names the running test. Jest
 * makes one for each file and never ends it. Node carries all of them along with each promise and each socket of the
 * worker: a seventh of the time of a worker that had run 80 files. Work that a test leaves behind counts as that of the
 * test that runs when it fails.
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
