import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, SignInId, UserId, WorkspaceId } from '../scalars.ts';

/** `email` is null for a person who has signed in by messenger alone. */
export const User = z.strictObject({ id: UserId, name: z.string(), email: z.string().nullable() });
export type User = z.infer<typeof User>;

/** Bodies of sign-in are tiny; a small bound keeps unauthenticated work small. */
const authBodyBytesMax = 10_000;

export const requestEmailCode = defineRoute({
  operation: 'request-email-code',
  summary: 'Send a sign-in code. Known and unknown addresses get the same answer.',
  method: 'POST',
  path: '/api/auth/email/request',
  auth: 'public',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ email: EmailAddress }),
  reply: z.strictObject({
    sent: z.boolean(),
    email: z.string(),
    /** The code. Present only in development and without a mail provider. */
    code: z.string().optional(),
  }),
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE', 'SSO_REQUIRED'],
});

export const SignedIn = z.strictObject({
  token: z.string(),
  user: User,
  workspace: z.strictObject({ id: WorkspaceId, name: z.string() }),
});
export type SignedIn = z.infer<typeof SignedIn>;

export const verifyEmailCode = defineRoute({
  operation: 'verify-email-code',
  summary: 'Exchange a code for a session. The first sign-in creates the user and a workspace.',
  method: 'POST',
  path: '/api/auth/email/verify',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({
    email: EmailAddress,
    /** The code from the mail. */
    code: z.string().min(1).max(64),
  }),
  reply: SignedIn,
  errors: ['LIMIT_REACHED', 'CODE_INVALID', 'RATE_LIMITED', 'SSO_REQUIRED'],
});

/** Twice Telegram's limit of 4,096 characters for start parameters and a profile. */
const initDataLengthMax = 8_192;

export const signInByMessenger = defineRoute({
  operation: 'sign-in-by-messenger',
  summary: 'Exchange the init data of a Telegram web app for a session, once and within five minutes.',
  method: 'POST',
  path: '/api/auth/messenger',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ initData: z.string().min(1).max(initDataLengthMax) }),
  reply: SignedIn,
  errors: ['CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'RATE_LIMITED', 'MESSENGER_NOT_CONFIGURED'],
});

export const endSession = defineRoute({
  operation: 'end-session',
  summary: 'End the current session immediately.',
  method: 'DELETE',
  path: '/api/auth/session',
  auth: 'session',
  idempotency: { exempt: 'repeatable' },
  provenBy: 'session_token',
  reply: z.strictObject({ ok: z.literal(true) }),
});

export const Session = z.strictObject({
  /** The id of the sign-in; it stays when the token rotates. */
  id: SignInId,
  signedInAt: Instant,
  /** When the current token was issued. */
  renewedAt: Instant,
  expiresAt: Instant,
  /** Whether it is the session of this request. */
  current: z.boolean(),
});
export type Session = z.infer<typeof Session>;

export const listSessions = defineRoute({
  operation: 'list-sessions',
  summary: "List the person's live sessions, newest sign-in first.",
  method: 'GET',
  path: '/api/auth/sessions',
  auth: 'session',
  provenBy: 'session_token',
  query: z.strictObject(PageQuery),
  reply: camelPage(Session),
});

export const revokeSession = defineRoute({
  operation: 'revoke-session',
  summary: 'End another session of the same person immediately.',
  method: 'DELETE',
  path: '/api/auth/sessions/{id}',
  auth: 'session',
  idempotency: { exempt: 'repeatable' },
  provenBy: 'session_token',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  reply: z.strictObject({ ok: z.literal(true) }),
  errors: ['NOT_FOUND'],
});
