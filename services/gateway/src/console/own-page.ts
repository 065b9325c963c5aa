import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/**
 * Throws ORIGIN_NOT_ALLOWED unless the request comes from a page of this gateway. A socket carries no CSRF token in a
 * header, and browsers let any page open a socket to any site. A page on another port of the same machine even
 * sends the cookie, so the cookie does not prove the origin.
 */
export function requireOwnPage(
  { headers: { origin, host } }: Pick<IncomingMessage, 'headers'>,
  { publicUrl }: { publicUrl: string },
): void {
  const page = URL.canParse(origin ?? '') ? new URL(origin ?? '') : null;
  if (page !== null && page.host !== '' && (page.host === host || page.origin === new URL(publicUrl).origin)) return;
  throw new AppError(
    'ORIGIN_NOT_ALLOWED',
    'Only pages of this server may open sockets. Open the console at its own address',
    { param: 'Origin' },
  );
}
