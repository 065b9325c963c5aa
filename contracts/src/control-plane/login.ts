import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';
import { SessionView } from './session.ts';

/** Bodies of sign-in are tiny; a small bound keeps unauthenticated work small. */
const authBodyBytesMax = 10_000;

/** 128 random bits; whoever holds it may finish the login that it began, with the proof. */
const LoginId = z.string().regex(/^lgn_[A-Za-z0-9_-]{22}$/, 'must be the login_id of a login that began');

export const beginLogin = defineRoute({
  operation: 'begin-login',
  summary: 'Begin to sign a browser in: a code goes to the address. Known and unknown addresses answer alike.',
  method: 'POST',
  path: '/api/auth/login/begin',
  auth: 'public',
  idempotent: false, // an answer kept for a day would replay a login that is over
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ method: z.literal('code').default('code'), email: EmailAddress }),
  reply: z.strictObject({
    login_id: z.string(),
    method: z.literal('code'),
    expires_at: Instant,
    /** Only in development and without a mail provider. */
    code: z.string().optional(),
  }),
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE', 'GATEWAY_UNAVAILABLE'],
});

export const finishLogin = defineRoute({
  operation: 'finish-login',
  summary: 'Prove the address. The answer sets the cookies of a session; the first sign-in makes user and workspace.',
  method: 'POST',
  path: '/api/auth/login/finish',
  auth: 'public',
  idempotent: false, // a replay would set cookies from storage, and their values are not stored
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ login_id: LoginId, code: z.string().min(1).max(64) }),
  reply: SessionView,
  errors: ['CODE_INVALID', 'PERMISSION_DENIED', 'RATE_LIMITED', 'GATEWAY_UNAVAILABLE'],
});

export const refreshSession = defineRoute({
  operation: 'refresh-session',
  summary: 'Renew a session by its refresh cookie, which is replaced. One that was replaced before ends the session.',
  method: 'POST',
  path: '/api/auth/refresh',
  auth: 'session',
  provenBy: 'refresh_cookie',
  idempotent: false, // each use replaces the cookie, and a second use of one is a theft
  reply: z.strictObject({
    /** False when another request of this browser has renewed the session in the last seconds: the browser has its cookies. */
    renewed: z.boolean(),
    expires_at: Instant,
  }),
});
