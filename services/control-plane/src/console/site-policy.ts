/**
 * The Content Security Policy 3 of console pages: own scripts, workers, styles, fonts, requests, manifest and pictures,
 * pictures in `data:` URLs, and nothing else. Inline scripts and styles are blocked. Pages cannot be framed, and forms
 * cannot submit to other sites.
 */
export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
