import { instantOf, AppError } from '@countersign/contracts';
import { refreshSession } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleRenewal } from '../../handle.ts';
import { cookieTexts, endedCookieTexts, refreshCookieOf } from '../../sessions/cookies.ts';
import { renewSession } from '../../sessions/renew-session.ts';

export const refreshSessionRoute = (context: Context) =>
  handleRenewal(refreshSession, { rateLimit: 'auth' })(async ({ req, requestId, addCookie }) => {
    const { config } = context;
    const token = refreshCookieOf(req.headers.cookie, config);
    if (token === null) throw new AppError('CREDENTIALS_REQUIRED', 'This browser has no session to renew. Sign in');
    const renewing = { token, holder: 'browser' as const, requestId };
    const { expiresAt, tokens } = await renewSession(context, renewing).catch((error: unknown) => {
      for (const cookie of endedCookieTexts(config)) addCookie(cookie);
      throw error;
    });
    for (const cookie of tokens === null ? [] : cookieTexts(tokens, config)) addCookie(cookie);
    return { renewed: tokens !== null, expires_at: instantOf(expiresAt) };
  });
