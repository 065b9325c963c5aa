import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/**
 * Refuses a form from another site. Browsers state the origin of a request in Sec-Fetch-Site, and pages cannot change
 * this header. A client that does not send the header is not a browser, so it carries no cookies of other people.
 */
export function requireOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return;
  throw new AppError(
    'PERMISSION_DENIED',
    'This form was sent from another site. Open the page again and submit its form',
  );
}
