/**
 * The names of the cookies that hold a session in a browser. Behind TLS the prefixes bind a cookie to this very host
 * and, for the access cookie, to the path `/` (RFC 6265bis §4.1.3). On loopback there is no TLS, and so no prefix.
 */
export const cookieNames = {
  tls: { access: '__Host-countersign', refresh: '__Secure-countersign-refresh' },
  loopback: { access: 'countersign', refresh: 'countersign-refresh' },
} as const;

/** The one path that a browser sends the refresh cookie to. */
export const refreshPath = '/api/auth/refresh';

/** The cookie that binds a sign-in to the browser that began it, while a provider sends that browser away and back. */
export const signInCookieNames = { tls: '__Host-countersign-sign-in', loopback: 'countersign-sign-in' } as const;
