import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { CeremonyOptions, ceremonyBytesMax, PasskeyAssertion } from '../governance-kernel/passkeys.ts';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';
import { SessionView } from './session.ts';

/** Bodies of sign-in are tiny; a small bound keeps unauthenticated work small. */
export const authBodyBytesMax = 10_000;

/** 128 random bits. The holder can finish the login with the proof. */
const LoginId = z.string().regex(/^lgn_[A-Za-z0-9_-]{22}$/, 'must be the login_id of a login that began');

export const LoginBegun = z.strictObject({
  login_id: z.string(),
  method: z.enum(['code', 'passkey', 'oidc']),
  expires_at: Instant,
  /** The code, for the method `code`. Present only in development and without a mail provider. */
  code: z.string().optional(),
  /**
   * Present for a passkey: the options of `navigator.credentials.get`. They name no passkey, so they are the same for
   * all callers.
   */
  options: CeremonyOptions.optional(),
  /** Present for a provider: the address to which the browser goes. */
  authorization_url: z.string().optional(),
  /** Present for a code that links a provider identity: the address to which it was sent. */
  email: EmailAddress.optional(),
});

/** The proof that finishes a login: the code, or the answer of the passkey. */
export const LoginProof = z
  .strictObject({
    login_id: LoginId,
    /** The code from the mail. */
    code: z.string().min(1).max(64).optional(),
    assertion: PasskeyAssertion.optional(),
  })
  .refine(({ code, assertion }) => (code === undefined) !== (assertion === undefined), {
    path: ['code'],
    message: 'must be sent without assertion, or assertion without it',
  });
export type LoginProof = z.infer<typeof LoginProof>;

export const beginLogin = defineRoute({
  operation: 'begin-login',
  summary:
    'Start a sign-in with an emailed code, a passkey or an identity provider. Known and unknown addresses get the ' +
    'same answer. `link` emails a code that links a provider identity.',
  method: 'POST',
  path: '/api/auth/login/begin',
  auth: 'public',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'challenge' },
  takesCookies: true,
  bodyBytesMax: authBodyBytesMax,
  body: z.discriminatedUnion('method', [
    z.strictObject({ method: z.literal('code').default('code'), email: EmailAddress }),
    z.strictObject({ method: z.literal('passkey') }),
    z.strictObject({ method: z.literal('oidc'), connection_id: z.string().min(1).max(128) }),
    z.strictObject({ method: z.literal('link'), login_id: LoginId }),
  ]),
  reply: LoginBegun,
  errors: [
    'NOT_FOUND',
    'CODE_INVALID',
    'RATE_LIMITED',
    'MAIL_UNAVAILABLE',
    'PASSKEYS_UNAVAILABLE',
    'OIDC_REFUSED',
    'OIDC_UNAVAILABLE',
    'SSO_REQUIRED',
    'GATEWAY_UNAVAILABLE',
    'GOVERNANCE_UNAVAILABLE',
  ],
});

export const finishLogin = defineRoute({
  operation: 'finish-login',
  summary:
    'Finish a sign-in with the code or the passkey, and set the session cookies. The first sign-in creates the ' +
    'user and a workspace.',
  method: 'POST',
  path: '/api/auth/login/finish',
  auth: 'public',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  takesCookies: true,
  bodyBytesMax: ceremonyBytesMax,
  body: LoginProof,
  reply: SessionView,
  errors: [
    'LIMIT_REACHED',
    'CODE_INVALID',
    'PASSKEY_REFUSED',
    'PERMISSION_DENIED',
    'SSO_REQUIRED',
    'RATE_LIMITED',
    'GATEWAY_UNAVAILABLE',
    'GOVERNANCE_UNAVAILABLE',
  ],
});

export const refreshSession = defineRoute({
  operation: 'refresh-session',
  summary:
    'Renew a session with its refresh cookie, and replace the cookie. Reusing a replaced cookie ends the session.',
  method: 'POST',
  path: '/api/auth/refresh',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  provenBy: 'refresh_cookie',
  reply: z.strictObject({
    /**
     * `false` when another request of this browser renewed the session in the last seconds. The browser already has the
     * new cookies.
     */
    renewed: z.boolean(),
    expires_at: Instant,
  }),
});
