import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest } from '../scalars.ts';
import { ApprovalDecision, ApprovalReason } from './approvals.ts';

/** The token in a form. It is valid for one form of one session, and for one state of one approval. */
const CsrfToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Enough for a reason of 2,000 characters, each at most nine bytes in a form, and for the other members. */
const formBytesMax = 32_768;

/** The approval whose page contained the form. Without this member, the form was on the page of pending passkeys. */
const ofPage = { approval_id: ApprovalId.optional() };

export const showApprovalPage = defineRoute({
  operation: 'show-approval-page',
  summary: 'Show an approval to its approver. Other visitors see a sign-in form for an approver key.',
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
  summary: 'Sign in with an approver key, and return to the requested page.',
  method: 'POST',
  path: '/approvals/sign-in',
  auth: 'public',
  idempotency: { exempt: 'secret' },
  media: 'html',
  bodyBytesMax: formBytesMax,
  body: z.strictObject({
    /** The approver key. */
    key: z.string().max(200),
    ...ofPage,
  }),
  reply: z.string(),
  status: 303,
  /** The answer 401 contains the sign-in form. */
  alsoStatus: [401],
  errors: ['PERMISSION_DENIED'],
});

export const signOutApprover = defineRoute({
  operation: 'sign-out-approver',
  summary: 'End the approver session of this browser.',
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
  summary:
    'Vote on an approval as the page showed it. If it has changed, no vote is cast and the page shows the new state.',
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
  /** These answers contain the page of the approval, or the sign-in form with a notice that states why. */
  alsoStatus: [401, 403, 409, 412],
  errors: ['NOT_FOUND'],
});
