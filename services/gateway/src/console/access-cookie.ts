import type { IncomingMessage } from 'node:http';
import { cookieNames } from '@countersign/contracts/control-plane';
import { cookieValue } from '@countersign/service-kit';

/** The access cookie that a request brings beside no other credential; null for none. A credential in a header was meant, a cookie comes along. */
export function accessCookieOf(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { publicUrl }: { publicUrl: string },
): string | null {
  if (headers.authorization !== undefined || headers['x-api-key'] !== undefined) return null;
  const names = publicUrl.startsWith('https:') ? cookieNames.tls : cookieNames.loopback;
  return cookieValue(headers.cookie, names.access);
}
