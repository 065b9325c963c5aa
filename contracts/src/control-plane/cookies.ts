/**
 * The names of the session cookies in a browser. With TLS, the prefixes bind a cookie to this host and, for the access
 * cookie, to the path `/` (RFC 6265bis §4.1.3). On loopback there is no TLS, so the cookies have no prefix.
 */
export const cookieNames = {
  tls: { access: '__Host-countersign', refresh: '__Secure-countersign-refresh' },
  loopback: { access: 'countersign', refresh: 'countersign-refresh' },
} as const;

/** The only path to which a browser sends the refresh cookie. */
export const refreshPath = '/api/auth/refresh';

/** The cookie that binds a sign-in to its browser while that browser is at an identity provider. */
export const signInCookieNames = { tls: '__Host-countersign-sign-in', loopback: 'countersign-sign-in' } as const;
