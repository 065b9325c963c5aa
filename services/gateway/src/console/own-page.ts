import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/**
 * Throws ORIGIN_NOT_ALLOWED unless a page that this gateway served asks. A socket takes no token of the page in a
 * header, and browsers open one to any site for any page. A page of another port of the same machine gets the cookie
 * sent along.
 */
export function requireOwnPage(
  { headers: { origin, host } }: Pick<IncomingMessage, 'headers'>,
  { publicUrl }: { publicUrl: string },
): void {
  const page = URL.canParse(origin ?? '') ? new URL(origin ?? '') : null;
  if (page !== null && page.host !== '' && (page.host === host || page.origin === new URL(publicUrl).origin)) return;
  throw new AppError('ORIGIN_NOT_ALLOWED', 'A socket is opened by a page of this server', { param: 'Origin' });
}
