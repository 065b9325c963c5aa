import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/**
 * Refuses a form that another site sent. Browsers say where a request comes from, and no page can make them say something else;
 * whoever sends no such header is no browser, and carries nobody's cookies.
 */
export function requireOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return;
  throw new AppError('PERMISSION_DENIED', 'This form came from another site');
}
