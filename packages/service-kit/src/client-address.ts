import type { IncomingMessage } from 'node:http';

/**
 * The address for limits and audit lines. X-Forwarded-For counts only behind `trustedProxies` proxies of ours, each of
 * which appended one entry. Entries further left come from the caller. An IPv6 address is cut to its /64, which
 * belongs to one subscriber.
 */
export function clientAddress(req: IncomingMessage, trustedProxies: number): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  if (trustedProxies === 0) return network(peer);
  const header = req.headers['x-forwarded-for'];
  const hops = (typeof header === 'string' ? header : '').split(',').map((hop) => hop.trim());
  return network(hops.at(-trustedProxies) || peer);
}

function network(address: string): string {
  const plain = bare(address).replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::', 2);
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '').toLowerCase());
  return `${groups.join(':')}::/64`;
}

/**
 * Some proxies append the port to the address. It differs for each connection, so with the port every limit would see
 * a new caller.
 */
function bare(address: string): string {
  return address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}
