import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, ChallengeId, Digest, PrincipalId } from '../scalars.ts';
import { ApprovalDecision, ApprovalReason, ApprovalState } from './approvals.ts';
import { CredentialId, PasskeyAssertion, PasskeyAttestation, PasskeyState } from './passkeys.ts';

/** The token in a form. It is valid for one form of one session, and for one state of one approval. */
const CsrfToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const params = z.strictObject({ approval_id: ApprovalId });
const bodyBytesMax = 65_536;
const options = z.record(z.string(), z.json());

export const showPasskeyScript = defineRoute({
  operation: 'show-passkey-script',
  summary: 'Get the script that requests passkeys on the approval pages. It is the same for all visitors.',
  method: 'GET',
  path: '/approvals/passkey.js',
  auth: 'public',
  media: 'script',
  reply: z.string(),
});

export const challengeOnPage = defineRoute({
  operation: 'challenge-on-page',
  summary: 'Start a vote on the shown request, with a passkey of the signed-in person.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/challenge',
  auth: 'public',
  idempotency: { exempt: 'challenge' },
  params,
  body: z.strictObject({
    ceremony_hash: Digest,
    csrf_token: CsrfToken,
    decision: ApprovalDecision,
    reason: ApprovalReason.default(''),
  }),
  reply: z.strictObject({ challenge_id: ChallengeId, options }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED', 'PRECONDITION_FAILED'],
});

export const assertOnPage = defineRoute({
  operation: 'assert-on-page',
  summary: 'Cast a vote on the shown request, with the assertion of a passkey.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/assert',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  params,
  body: z.strictObject({
    ceremony_hash: Digest,
    csrf_token: CsrfToken,
    challenge_id: ChallengeId,
    assertion: PasskeyAssertion,
    reason: ApprovalReason.default(''),
  }),
  reply: z.strictObject({ state: ApprovalState }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REFUSED', 'PRECONDITION_FAILED'],
});

export const registerOnPage = defineRoute({
  operation: 'register-on-page',
  summary: 'Start the enrolment of a passkey of the signed-in person.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/register',
  auth: 'public',
  idempotency: { exempt: 'challenge' },
  params,
  body: z.strictObject({ csrf_token: CsrfToken }),
  reply: z.strictObject({ options }),
  errors: ['CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEYS_UNAVAILABLE'],
});

export const verifyOnPage = defineRoute({
  operation: 'verify-on-page',
  summary: 'Finish the enrolment of the passkey that the browser created.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/verify',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  params,
  body: z.strictObject({ csrf_token: CsrfToken, attestation: PasskeyAttestation }),
  reply: z.strictObject({ state: PasskeyState }),
  errors: ['CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REFUSED', 'ALREADY_EXISTS'],
});

export const showWaitingPasskeys = defineRoute({
  operation: 'show-waiting-passkeys',
  summary:
    'Show the passkeys that wait for an approver to vouch for them. Other visitors see a sign-in form for an ' +
    'approver key.',
  method: 'GET',
  path: '/approvals/passkeys',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});

/** A waiting passkey, as named in the displayed form. */
const waiting = { principal_id: PrincipalId, credential_id: CredentialId, csrf_token: CsrfToken };

export const challengeVoucherOnPage = defineRoute({
  operation: 'challenge-voucher-on-page',
  summary: 'Start to vouch for a passkey on the page, with a passkey of the signed-in person.',
  method: 'POST',
  path: '/approvals/passkeys/challenge',
  auth: 'public',
  idempotency: { exempt: 'challenge' },
  bodyBytesMax,
  body: z.strictObject(waiting),
  reply: z.strictObject({ options }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED', 'ILLEGAL_TRANSITION'],
});

export const vouchOnPage = defineRoute({
  operation: 'vouch-on-page',
  summary: 'Vouch for a passkey on the page, which makes it active.',
  method: 'POST',
  path: '/approvals/passkeys/assert',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  body: z.strictObject({ ...waiting, assertion: PasskeyAssertion }),
  reply: z.strictObject({ state: PasskeyState }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REFUSED', 'ILLEGAL_TRANSITION'],
});
