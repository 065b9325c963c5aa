import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { bearerToken } from '@countersign/service-kit';

const headerToken = /^[A-Za-z0-9_-]{1,256}$/;

/**
 * The credential of a request: `Authorization: Bearer …`, or a key in `X-API-Key`. Two different credentials are a
 * mistake or an attack, so neither is chosen. Throws CREDENTIALS_REQUIRED, CREDENTIALS_INVALID.
 */
export function presentedCredential(req: IncomingMessage): string {
  const key = req.headers['x-api-key'];
  if (key === undefined) return bearerToken(req);
  if (typeof key !== 'string' || !headerToken.test(key))
    throw new AppError('CREDENTIALS_INVALID', 'X-API-Key is malformed. Copy the whole key');
  if (req.headers.authorization !== undefined && bearerToken(req) !== key)
    throw new AppError('CREDENTIALS_INVALID', 'The request has two different credentials. Send one');
  return key;
}
