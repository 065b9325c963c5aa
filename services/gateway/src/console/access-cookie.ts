import type { IncomingMessage } from 'node:http';
import { cookieNames } from '@countersign/contracts/control-plane';
import { cookieValue } from '@countersign/service-kit';

/**
 * The access cookie of a request without another credential, or `null`. A credential in a header takes precedence,
 * since browsers send cookies with every request.
 */
export function accessCookieOf(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { publicUrl }: { publicUrl: string },
): string | null {
  if (headers.authorization !== undefined || headers['x-api-key'] !== undefined) return null;
  const names = publicUrl.startsWith('https:') ? cookieNames.tls : cookieNames.loopback;
  return cookieValue(headers.cookie, names.access);
}
