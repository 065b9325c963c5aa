/**
 * Kinds that never count as left open. Streams and the channel to Jest exist from the beginning. Timers end by
 * themselves, and libraries leave some after a close.
 */
const own = new Set(['PipeWrap', 'TTYWrap', 'TTYWRAP', 'PIPEWRAP', 'FSReqCallback', 'FSReqPromise', 'Timeout']);

/** @returns {string[]} the kind of each resource that keeps this process alive */
export function openResources() {
  return process.getActiveResourcesInfo().filter((kind) => !own.has(kind));
}

/** The handles that keep this process alive, as text. */
export function describeOpen() {
  const described = process._getActiveHandles().map(describe);
  return [...openResources(), ...described.filter((text) => text !== null)].join(', ');
}

function describe(handle) {
  if (handle.spawnargs !== undefined) return `process ${handle.spawnargs.join(' ')}`;
  if (typeof handle.address === 'function' && handle.listening) return `server on ${JSON.stringify(handle.address())}`;
  if (handle.remotePort !== undefined) return `socket to ${handle.remoteAddress}:${handle.remotePort}`;
  return null;
}
