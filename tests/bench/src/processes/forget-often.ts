const everyMs = 100;

/** The servers of the test kit remember what they were asked, for tests to look at; here it would only fill the memory. */
export function forgetOften(...lists: readonly (readonly unknown[])[]): void {
  // Read-only to those who look; whoever runs the server may empty them.
  const emptied = lists as readonly unknown[][];
  setInterval(() => emptied.forEach((list) => list.splice(0)), everyMs).unref();
}
