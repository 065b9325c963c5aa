import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { UserId, WorkspaceId } from '../scalars.ts';

/** An address is compared in lower case; 254 is the longest that SMTP can carry (RFC 5321 §4.5.3.1.3). */
export const EmailAddress = z
  .string()
  .max(254)
  .trim()
  .toLowerCase()
  .pipe(z.email({ error: 'must be an e-mail address' }));

export const User = z.strictObject({ id: UserId, name: z.string(), email: z.string() });
export type User = z.infer<typeof User>;

/** Bodies of sign-in are tiny; a small bound keeps unauthenticated work small. */
const authBodyBytesMax = 10_000;

export const requestEmailCode = defineRoute({
  operation: 'request-email-code',
  summary: 'Send a sign-in code. Unknown and known addresses answer alike.',
  method: 'POST',
  path: '/api/auth/email/request',
  auth: 'public',
  idempotent: false, // an answer kept for a day would replay a code that is dead
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ email: EmailAddress }),
  reply: z.strictObject({
    sent: z.boolean(),
    email: z.string(),
    /** Only in development and without a mail provider. */
    code: z.string().optional(),
  }),
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE'],
});

export const SignedIn = z.strictObject({
  token: z.string(),
  user: User,
  workspace: z.strictObject({ id: WorkspaceId, name: z.string() }),
});
export type SignedIn = z.infer<typeof SignedIn>;

export const verifyEmailCode = defineRoute({
  operation: 'verify-email-code',
  summary: 'Exchange a code for a session. The first sign-in creates user and workspace.',
  method: 'POST',
  path: '/api/auth/email/verify',
  auth: 'public',
  idempotent: false, // a replay would answer a token from storage, and tokens are not stored
  bodyBytesMax: authBodyBytesMax,
  body: z.strictObject({ email: EmailAddress, code: z.string().min(1).max(64) }),
  reply: SignedIn,
  errors: ['CODE_INVALID', 'RATE_LIMITED'],
});

export const endSession = defineRoute({
  operation: 'end-session',
  summary: 'Invalidate the current session at once.',
  method: 'DELETE',
  path: '/api/auth/session',
  auth: 'session',
  reply: z.strictObject({ ok: z.literal(true) }),
});
