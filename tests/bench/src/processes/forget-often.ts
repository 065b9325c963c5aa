const everyMs = 100;

/**
 * The servers of the test kit record all requests for tests. Here the records would only fill the memory, so they are
 * removed. Returns a function that counts all requests so far.
 */
export function forgetOften(list: readonly unknown[]): () => number {
  // The list is read-only to its readers. The process of the server may empty it.
  const emptied = list as unknown[];
  let forgotten = 0;
  setInterval(() => {
    forgotten += emptied.splice(0).length;
  }, everyMs).unref();
  return () => forgotten;
}
