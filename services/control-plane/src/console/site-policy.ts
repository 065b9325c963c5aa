/**
 * The permissions of a console page (Content Security Policy 3): its own scripts, workers, styles and requests,
 * pictures that it draws itself, and nothing else. No inline script or style counts, no page frames it, no form of it
 * goes elsewhere.
 */
export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
