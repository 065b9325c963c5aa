import { z } from 'zod';
import { OidcConnectionId } from '../control-plane/oidc.ts';
import { EmailAddress } from '../email-address.ts';
import { defineRoute } from '../route.ts';
import { UserId } from '../scalars.ts';
import { User } from './identity.ts';

/** Bodies of sign-in are tiny. */
const bodyBytesMax = 10_000;

/** The identity provider that has signed the person in. Left out when none has. */
const connection_id = OidcConnectionId.optional();

export const sendSignInCode = defineRoute({
  operation: 'send-sign-in-code',
  summary:
    'Send a sign-in code to an address, for a service that signs people in. Known and unknown addresses get the ' +
    'same answer.',
  method: 'POST',
  path: '/internal/sign-in-codes',
  auth: 'service_internal',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax,
  body: z.strictObject({
    email: EmailAddress,
    /**
     * Whether the browser runs on the gateway's own machine. Only such a browser may see the code, if the installation
     * allows it.
     */
    isLocal: z.boolean(),
    connection_id,
  }),
  reply: z.strictObject({
    /** The code. Present only in development and without a mail provider. */
    code: z.string().optional(),
    /** The person with this address, for the sibling service only; `null` when it belongs to no person. */
    user_id: UserId.nullable(),
  }),
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE', 'SSO_REQUIRED'],
});

export const proveAddress = defineRoute({
  operation: 'prove-address',
  summary:
    'Verify a sign-in code, and return the person with that address. The first sign-in creates the user and a ' +
    'workspace.',
  method: 'POST',
  path: '/internal/sign-in-codes/verify',
  auth: 'service_internal',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  body: z.strictObject({ email: EmailAddress, code: z.string().min(1).max(64), connection_id }),
  reply: z.strictObject({ user: User }),
  errors: ['LIMIT_REACHED', 'CODE_INVALID', 'PERMISSION_DENIED', 'SSO_REQUIRED'],
});

const ofUser = z.strictObject({ user_id: z.string().min(1).max(128) });

export const authorizeSignIn = defineRoute({
  operation: 'authorize-sign-in',
  summary:
    'Check whether a person may sign in through a connection, or with a passkey. SSO_REQUIRED names the ' +
    'connection that their organisation requires.',
  method: 'POST',
  path: '/internal/users/{user_id}/sign-ins',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  bodyBytesMax,
  params: ofUser,
  body: z.strictObject({
    /** `null` for a sign-in with a passkey. */
    connection_id: OidcConnectionId.nullable(),
  }),
  reply: z.strictObject({ ok: z.literal(true) }),
  errors: ['NOT_FOUND', 'SSO_REQUIRED'],
});

export const sendUserCode = defineRoute({
  operation: 'send-user-code',
  summary: "Send a code to a person's address, for a service that renews proofs of presence.",
  method: 'POST',
  path: '/internal/users/{user_id}/codes',
  auth: 'service_internal',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax,
  params: ofUser,
  body: z.strictObject({ isLocal: z.boolean() }),
  reply: z.strictObject({
    /** The code. Present only in development and without a mail provider. */
    code: z.string().optional(),
  }),
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'MAIL_UNAVAILABLE'],
});

export const proveUser = defineRoute({
  operation: 'prove-user',
  summary: "Verify and consume a code that was sent to this person's address.",
  method: 'POST',
  path: '/internal/users/{user_id}/codes/verify',
  auth: 'service_internal',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  params: ofUser,
  body: z.strictObject({
    /** The code from the mail. */
    code: z.string().min(1).max(64),
  }),
  reply: z.strictObject({ user: User }),
  errors: ['NOT_FOUND', 'CODE_INVALID'],
});

export const tellMembers = defineRoute({
  operation: 'tell-members',
  summary:
    'Publish the complete list of members of a workspace again, under the next version, for services that missed it.',
  method: 'POST',
  path: '/internal/workspaces/{workspace_id}/members/told',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ workspace_id: z.string().min(1).max(128) }),
  reply: z.strictObject({ ok: z.literal(true) }),
  errors: ['NOT_FOUND'],
});
