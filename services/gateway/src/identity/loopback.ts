const loopbackName = String.raw`localhost|127(?:\.\d{1,3}){3}`;
const loopbackAddress = new RegExp(`^(?:${loopbackName}|::1)$`, 'i');
const loopbackAuthority = new RegExp(String.raw`^(?:${loopbackName}|\[::1\])(?::\d{1,5})?$`, 'i');

/** Whether a server on this host accepts connections from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  return loopbackAddress.test(host);
}

/**
 * Whether a Host header (attacker-controlled) names this machine. A hostile page whose name was rebound to 127.0.0.1
 * reaches the port, but its Host header contains the hostile name.
 */
export function isLoopbackAuthority(host: string | undefined): boolean {
  return host !== undefined && loopbackAuthority.test(host);
}
