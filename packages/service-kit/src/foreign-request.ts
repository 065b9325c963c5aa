import { isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

type OwnNames = {
  /** Names (without a port) of this server, besides those of its own machine. */
  hosts: readonly string[];
  /** Origins of other pages that may call this server, exactly as browsers send them. */
  origins: readonly string[];
};

/**
 * Throws HOST_NOT_ALLOWED or ORIGIN_NOT_ALLOWED, and INVALID_REQUEST for two hosts (RFC 9112, 3.2). These headers are
 * attacker-controlled, but a page in a browser cannot set them.
 */
export type ForeignGuard = (req: Pick<IncomingMessage, 'headers' | 'headersDistinct'>) => void;

const localNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The guard against pages of other sites, in front of every route. A page whose name was rebound to our address is
 * recognised by that name (Host), any other page by its origin. An address cannot be rebound, so probes by address
 * pass.
 */
export function createForeignGuard({ hosts, origins }: OwnNames): ForeignGuard {
  const names = new Set([...localNames, ...hosts.map((name) => name.toLowerCase())]);
  const pages = new Set(origins);
  return ({ headers: { host, origin }, headersDistinct }) => {
    if ((headersDistinct['host'] ?? []).length > 1)
      throw new AppError('INVALID_REQUEST', 'The request needs exactly one Host header', { param: 'Host' });
    if (!isOwnHost(names, host))
      throw new AppError('HOST_NOT_ALLOWED', 'The name in the Host header is not a name of this server', {
        param: 'Host',
      });
    if (origin !== undefined && !pages.has(origin) && !isOwnOrigin(names, origin, host))
      throw new AppError('ORIGIN_NOT_ALLOWED', 'Pages of this Origin are not allowed to call this server', {
        param: 'Origin',
      });
  };
}

const authority = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/i;

function isOwnHost(names: ReadonlySet<string>, host: string | undefined): boolean {
  const name = authority.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  return names.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** Whether the page belongs to this server or to its machine. A page that hides its origin sends `null`. */
function isOwnOrigin(names: ReadonlySet<string>, origin: string, host: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return names.has(page.hostname) || (page.host !== '' && page.host === host);
}
