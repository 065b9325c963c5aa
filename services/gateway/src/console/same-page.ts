import type { IncomingMessage } from 'node:http';
import { AppError, type Method } from '@countersign/contracts';
import { secretsEqual } from '@countersign/service-kit';

type Input = { req: Pick<IncomingMessage, 'headers'>; method: Method; csrfToken: string };

/**
 * Throws CSRF_TOKEN_INVALID unless a changing request comes from a page of ours. A browser sends the cookie with
 * requests of any page. Only our pages know the token, and no other page can make the browser send `same-origin`.
 */
export function requireSamePage({ req: { headers }, method, csrfToken }: Input): void {
  if (method === 'GET') return;
  const token = headers['x-csrf-token'];
  if (headers['sec-fetch-site'] === 'same-origin' && typeof token === 'string' && secretsEqual(token, csrfToken))
    return;
  throw new AppError('CSRF_TOKEN_INVALID', 'The CSRF token does not belong to this session. Reload the page');
}
