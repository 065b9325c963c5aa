import { cookieNames, refreshPath } from '@countersign/contracts/control-plane';
import { cookieValue } from '@countersign/service-kit';
import { sessionLifetimeMs } from './lifetimes.ts';

/** The token pair of a session. */
export type Tokens = { access: string; refresh: string };

export type Transport = { isSecure: boolean };

/**
 * The `Set-Cookie` headers of a session. Scripts cannot read them. A link from another site sends the access cookie to
 * pages (Lax), and no request from another site sends the refresh cookie. Both cookies last as long as the session,
 * since a cookie with an expired access token shows that the session can be renewed.
 */
export function cookieTexts({ access, refresh }: Tokens, transport: Transport): string[] {
  return textsOf({ access, refresh }, transport, sessionLifetimeMs / 1_000);
}

/** The headers that remove both cookies. */
export function endedCookieTexts(transport: Transport): string[] {
  return textsOf({ access: '', refresh: '' }, transport, 0);
}

/** The refresh cookie of a request; `null` when there is none, or two, of which one may be planted. */
export function refreshCookieOf(header: string | undefined, { isSecure }: Transport): string | null {
  return cookieValue(header, namesFor(isSecure).refresh);
}

/** The access cookie of a request. `null` for none, or for two. */
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
