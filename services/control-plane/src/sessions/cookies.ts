import { cookieNames, refreshPath } from '@countersign/contracts/control-plane';
import { cookieValue } from '@countersign/service-kit';
import { sessionLifetimeMs } from './lifetimes.ts';

/** The values of one renewal. */
export type Tokens = { access: string; refresh: string };

export type Transport = { isSecure: boolean };

/**
 * `Set-Cookie` of a session. No script reads them; a link from elsewhere brings the access cookie to pages (Lax), and nothing of another
 * site's brings the refresh cookie. Both stay for as long as the session: an access token that ran out says that there is one to renew.
 */
export function cookieTexts({ access, refresh }: Tokens, transport: Transport): string[] {
  return textsOf({ access, refresh }, transport, sessionLifetimeMs / 1_000);
}

/** Takes both out of the browser. */
export function endedCookieTexts(transport: Transport): string[] {
  return textsOf({ access: '', refresh: '' }, transport, 0);
}

/** The refresh cookie of a request; `null` when there is none, or two, of which one may be planted. */
export function refreshCookieOf(header: string | undefined, { isSecure }: Transport): string | null {
  return cookieValue(header, namesFor(isSecure).refresh);
}

/** The access cookie of a request; null for none, or for two. */
export function accessCookieOf(header: string | undefined, { isSecure }: Transport): string | null {
  return cookieValue(header, namesFor(isSecure).access);
}

function textsOf({ access, refresh }: Tokens, { isSecure }: Transport, maxAge: number): string[] {
  const names = namesFor(isSecure);
  const secure = isSecure ? '; Secure' : '';
  return [
    `${names.access}=${access}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure}`,
    `${names.refresh}=${refresh}; Path=${refreshPath}; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`,
  ];
}

function namesFor(isSecure: boolean) {
  return isSecure ? cookieNames.tls : cookieNames.loopback;
}
