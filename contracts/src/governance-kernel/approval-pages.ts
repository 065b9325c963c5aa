import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest } from '../scalars.ts';
import { ApprovalDecision, ApprovalReason } from './approvals.ts';

/** Signs one form of one session for one state of one approval. */
const CsrfToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** A reason of 2,000 characters, each of which a form may write as nine bytes, and the other members. */
const formBytesMax = 32_768;

/** Which page the form stands on; none: that of the passkeys that wait. */
const ofPage = { approval_id: ApprovalId.optional() };

export const showApprovalPage = defineRoute({
  operation: 'show-approval-page',
  summary: 'The approval for the person who decides it; for other visitors a form to sign in with an approver key.',
  method: 'GET',
  path: '/approvals/{approval_id}',
  auth: 'public',
  media: 'html',
  params: z.strictObject({ approval_id: ApprovalId }),
  reply: z.string(),
  errors: ['NOT_FOUND'],
});

export const signInApprover = defineRoute({
  operation: 'sign-in-approver',
  summary: 'Sign in with an approver key, and go on to the page that was asked for.',
  method: 'POST',
  path: '/approvals/sign-in',
  auth: 'public',
  idempotency: { exempt: 'secret' },
  media: 'html',
  bodyBytesMax: formBytesMax,
  body: z.strictObject({ key: z.string().max(200), ...ofPage }),
  reply: z.string(),
  status: 303,
  /** The form again. */
  alsoStatus: [401],
  errors: ['PERMISSION_DENIED'],
});

export const signOutApprover = defineRoute({
  operation: 'sign-out-approver',
  summary: 'End the session of this browser.',
  method: 'POST',
  path: '/approvals/sign-out',
  auth: 'public',
  idempotency: { exempt: 'repeatable' },
  media: 'html',
  bodyBytesMax: formBytesMax,
  body: z.strictObject({ ...ofPage, csrf_token: CsrfToken }),
  reply: z.string(),
  status: 303,
  errors: ['PERMISSION_DENIED'],
});

export const voteOnPage = defineRoute({
  operation: 'vote-on-page',
  summary: 'Decide what the page showed. Another state is not decided: it is told and shown.',
  method: 'POST',
  path: '/approvals/{approval_id}',
  auth: 'public',
  idempotency: { exempt: 'precondition' },
  media: 'html',
  bodyBytesMax: formBytesMax,
  params: z.strictObject({ approval_id: ApprovalId }),
  body: z.strictObject({
    decision: ApprovalDecision,
    reason: ApprovalReason.default(''),
    ceremony_hash: Digest,
    csrf_token: CsrfToken,
  }),
  reply: z.string(),
  status: 303,
  /** The page or the form to sign in again, with what stands in the way. */
  alsoStatus: [401, 403, 409, 412],
  errors: ['NOT_FOUND'],
});
