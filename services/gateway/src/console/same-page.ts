import type { IncomingMessage } from 'node:http';
import { AppError, type Method } from '@countersign/contracts';
import { secretsEqual } from '@countersign/service-kit';

type Asked = { req: Pick<IncomingMessage, 'headers'>; method: Method; csrfToken: string };

/**
 * Throws CSRF_TOKEN_INVALID unless a request that changes something comes from a page of ours. A browser sends the
 * cookie with requests of any page. Only our pages know the token, and no page can make the browser send `same-origin`.
 */
export function requireSamePage({ req: { headers }, method, csrfToken }: Asked): void {
  if (method === 'GET') return;
  const token = headers['x-csrf-token'];
  if (headers['sec-fetch-site'] === 'same-origin' && typeof token === 'string' && secretsEqual(token, csrfToken))
    return;
  throw new AppError('CSRF_TOKEN_INVALID', 'The request does not come from a page of this session');
}
