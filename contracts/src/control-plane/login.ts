import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { CeremonyOptions, ceremonyBytesMax, PasskeyAssertion } from '../governance-kernel/passkeys.ts';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';
import { SessionView } from './session.ts';

/** Bodies of sign-in are tiny; a small bound keeps unauthenticated work small. */
export const authBodyBytesMax = 10_000;

/** 128 random bits; the holder may finish the login that it began, with the proof. */
const LoginId = z.string().regex(/^lgn_[A-Za-z0-9_-]{22}$/, 'must be the login_id of a login that began');

export const LoginBegun = z.strictObject({
  login_id: z.string(),
  method: z.enum(['code', 'passkey', 'oidc']),
  expires_at: Instant,
  /** Present for a code: only in development and without a mail provider. */
  code: z.string().optional(),
  /**
   * Present for a passkey: the options of `navigator.credentials.get`. They name no passkey, so they are the same for
   * everybody.
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
    code: z.string().min(1).max(64).optional(),
    assertion: PasskeyAssertion.optional(),
  })
  .refine(({ code, assertion }) => (code === undefined) !== (assertion === undefined), {
    path: ['code'],
    message: 'must be sent, or an assertion, and not both',
  });
export type LoginProof = z.infer<typeof LoginProof>;

export const beginLogin = defineRoute({
  operation: 'begin-login',
  summary:
    'Begin to sign a browser in: a code goes to the address, any passkey is asked for, or an identity provider. Known and unknown addresses answer ' +
    'alike. `link` sends the code that says whose the identity is with which a provider has sent this browser back.',
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
    'GATEWAY_UNAVAILABLE',
    'GOVERNANCE_UNAVAILABLE',
  ],
});

export const finishLogin = defineRoute({
  operation: 'finish-login',
  summary:
    'Prove the address, or by a passkey who it is. The answer sets the cookies of a session; the first sign-in makes user and workspace.',
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
    'RATE_LIMITED',
    'GATEWAY_UNAVAILABLE',
    'GOVERNANCE_UNAVAILABLE',
  ],
});

export const refreshSession = defineRoute({
  operation: 'refresh-session',
  summary: 'Renew a session by its refresh cookie, which is replaced. One that was replaced before ends the session.',
  method: 'POST',
  path: '/api/auth/refresh',
  auth: 'session',
  forward: { limit: 'auth' },
  idempotency: { exempt: 'single_use' },
  provenBy: 'refresh_cookie',
  reply: z.strictObject({
    /** False when another request of this browser has renewed the session in the last seconds: the browser has its cookies. */
    renewed: z.boolean(),
    expires_at: Instant,
  }),
});
