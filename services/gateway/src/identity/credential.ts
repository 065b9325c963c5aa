import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { bearerToken } from '@countersign/service-kit';

const headerToken = /^[A-Za-z0-9_-]{1,256}$/;

/**
 * The credential of a request: `Authorization: Bearer …`, or a key in `X-API-Key`. Two that differ are a mistake or an
 * attack, never a choice of ours. Throws CREDENTIALS_REQUIRED, CREDENTIALS_INVALID.
 */
export function presentedCredential(req: IncomingMessage): string {
  const key = req.headers['x-api-key'];
  if (key === undefined) return bearerToken(req);
  if (typeof key !== 'string' || !headerToken.test(key))
    throw new AppError('CREDENTIALS_INVALID', 'The key in X-API-Key is malformed');
  if (req.headers.authorization !== undefined && bearerToken(req) !== key)
    throw new AppError('CREDENTIALS_INVALID', 'The request brings two credentials that differ');
  return key;
}
