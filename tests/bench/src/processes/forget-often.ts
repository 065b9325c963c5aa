const everyMs = 100;

/**
 * The servers of the test kit remember what they were asked, for tests to look at; here it would only fill the memory. Returns how to
 * hear how much has been forgotten.
 */
export function forgetOften(list: readonly unknown[]): () => number {
  // Read-only to its readers; the process of the server may empty it.
  const emptied = list as unknown[];
  let forgotten = 0;
  setInterval(() => {
    forgotten += emptied.splice(0).length;
  }, everyMs).unref();
  return () => forgotten;
}
