import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/**
 * Refuses a form that another site sent. Browsers state the origin of a request, and no page can change it. A client
 * without such a header is no browser, and carries no one else's cookies.
 */
export function requireOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return;
  throw new AppError('PERMISSION_DENIED', 'This form came from another site');
}
