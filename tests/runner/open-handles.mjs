/**
 * What keeps the process alive among `handles`, in words. Standard streams, the channel to Jest, and what was unref'd on purpose do not.
 * @returns {string[]}
 */
export function describeHandles(handles) {
  return handles.filter(keepsAlive).map(describe);
}

function keepsAlive(handle) {
  const inner = handle._handle ?? handle;
  if (handle === process.stdin || handle.fd === 0 || handle.fd === 1 || handle.fd === 2) return false;
  if (handle.constructor.name === 'Pipe') return false; // the channel to the parent process
  return typeof inner.hasRef === 'function' ? inner.hasRef() : true;
}

function describe(handle) {
  const kind = handle.constructor.name;
  if (kind === 'ChildProcess') return `process ${handle.spawnargs?.join(' ')}`;
  if (kind === 'Server') return `server on ${JSON.stringify(handle.address?.())}`;
  if (handle.remotePort !== undefined) return `socket to ${handle.remoteAddress}:${handle.remotePort}`;
  return kind;
}
