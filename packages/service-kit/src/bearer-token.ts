import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';

/** RFC 9110 §11.1: the scheme is case-insensitive. RFC 6750 §2.1: the token is token68. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The token of `Authorization: Bearer <token>`. Throws CREDENTIALS_REQUIRED when there is no such header or a different
 * scheme, CREDENTIALS_INVALID when the value is not a token.
 */
export function bearerToken(req: IncomingMessage): string {
  const header = req.headers.authorization;
  if (header === undefined || !/^bearer( |$)/i.test(header)) {
    throw new AppError('CREDENTIALS_REQUIRED', 'Authorization: Bearer <token> is required');
  }
  const token = bearer.exec(header)?.[1];
  if (token === undefined) throw new AppError('CREDENTIALS_INVALID', 'The bearer token is malformed');
  return token;
}
