const loopbackName = String.raw`localhost|127(?:\.\d{1,3}){3}`;
const loopbackAddress = new RegExp(`^(?:${loopbackName}|::1)$`, 'i');
const loopbackAuthority = new RegExp(String.raw`^(?:${loopbackName}|\[::1\])(?::\d{1,5})?$`, 'i');

/** Whether a server that binds to this host hears this machine alone. */
export function isLoopbackAddress(host: string): boolean {
  return loopbackAddress.test(host);
}

/**
 * Whether a Host header (attacker-controlled) names this machine. A page of a stranger whose name was rebound to 127.0.0.1 reaches
 * the port, and is given away by the name that it was loaded under.
 */
export function isLoopbackAuthority(host: string | undefined): boolean {
  return host !== undefined && loopbackAuthority.test(host);
}
