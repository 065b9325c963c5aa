import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { defineRoute } from '../route.ts';
import { UserId } from '../scalars.ts';
import { User } from './identity.ts';

/** Bodies of sign-in are tiny. */
const bodyBytesMax = 10_000;

export const sendSignInCode = defineRoute({
  operation: 'send-sign-in-code',
  summary: 'For a sibling that signs people in: send a code to an address. Known and unknown addresses answer alike.',
  method: 'POST',
  path: '/internal/sign-in-codes',
  auth: 'service_internal',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax,
  body: z.strictObject({
    email: EmailAddress,
    /** Whether the browser that asks may be shown the code where that is allowed at all. */
    isLocal: z.boolean(),
  }),
  reply: z.strictObject({
    /** Only in development and without a mail provider. */
    code: z.string().optional(),
    /** The person with this address, for the sibling service only; `null` when it belongs to no person. */
    user_id: UserId.nullable(),
  }),
  errors: ['RATE_LIMITED', 'MAIL_UNAVAILABLE'],
});

export const proveAddress = defineRoute({
  operation: 'prove-address',
  summary:
    'For a sibling that signs people in: whose address a code proves. The first time it makes user and workspace.',
  method: 'POST',
  path: '/internal/sign-in-codes/verify',
  auth: 'service_internal',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  body: z.strictObject({ email: EmailAddress, code: z.string().min(1).max(64) }),
  reply: z.strictObject({ user: User }),
  errors: ['LIMIT_REACHED', 'CODE_INVALID', 'PERMISSION_DENIED'],
});

const ofUser = z.strictObject({ user_id: z.string().min(1).max(128) });

export const sendUserCode = defineRoute({
  operation: 'send-user-code',
  summary: 'For a sibling that keeps sessions: send a code to the address of a person who proves again who they are.',
  method: 'POST',
  path: '/internal/users/{user_id}/codes',
  auth: 'service_internal',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax,
  params: ofUser,
  body: z.strictObject({ isLocal: z.boolean() }),
  reply: z.strictObject({
    /** Only in development and without a mail provider. */
    code: z.string().optional(),
  }),
  errors: ['NOT_FOUND', 'RATE_LIMITED', 'MAIL_UNAVAILABLE'],
});

export const proveUser = defineRoute({
  operation: 'prove-user',
  summary: 'For a sibling that keeps sessions: spend a code that was sent to the address of this person.',
  method: 'POST',
  path: '/internal/users/{user_id}/codes/verify',
  auth: 'service_internal',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  params: ofUser,
  body: z.strictObject({ code: z.string().min(1).max(64) }),
  reply: z.strictObject({ user: User }),
  errors: ['NOT_FOUND', 'CODE_INVALID'],
});

export const tellMembers = defineRoute({
  operation: 'tell-members',
  summary:
    'Send the complete list of members of a workspace again, under the next version, to services that may have missed it.',
  method: 'POST',
  path: '/internal/workspaces/{workspace_id}/members/told',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ workspace_id: z.string().min(1).max(128) }),
  reply: z.strictObject({ ok: z.literal(true) }),
  errors: ['NOT_FOUND'],
});
