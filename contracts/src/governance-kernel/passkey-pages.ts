import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, ChallengeId, Digest, PrincipalId } from '../scalars.ts';
import { ApprovalDecision, ApprovalReason, ApprovalState } from './approvals.ts';
import { CredentialId, PasskeyAssertion, PasskeyAttestation, PasskeyState } from './passkeys.ts';

/** Signs one form of one session for one state of one approval. */
const CsrfToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const params = z.strictObject({ approval_id: ApprovalId });
const bodyBytesMax = 65_536;
const options = z.record(z.string(), z.json());

export const showPasskeyScript = defineRoute({
  operation: 'show-passkey-script',
  summary: 'The script by which the pages of approvals ask a passkey. It is the same for everybody.',
  method: 'GET',
  path: '/approvals/passkey.js',
  auth: 'public',
  media: 'script',
  reply: z.string(),
});

export const challengeOnPage = defineRoute({
  operation: 'challenge-on-page',
  summary: 'Begin to decide on the shown request, with a passkey of the signed-in person.',
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
  summary: 'Decide what the page showed, by the assertion of a passkey.',
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
  summary: 'Begin to enrol a passkey of the signed-in person.',
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
  summary: 'Enrol the passkey that the browser made.',
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
    'The passkeys that wait for an approver to vouch for them; for other visitors a form to sign in with an approver key.',
  method: 'GET',
  path: '/approvals/passkeys',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});

/** One passkey that waits, as the form names it that was shown. */
const waiting = { principal_id: PrincipalId, credential_id: CredentialId, csrf_token: CsrfToken };

export const challengeVoucherOnPage = defineRoute({
  operation: 'challenge-voucher-on-page',
  summary: 'Begin to vouch for a passkey that the page showed, with a passkey of the signed-in person.',
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
  summary: 'Vouch for a passkey that the page showed: it is active from now on.',
  method: 'POST',
  path: '/approvals/passkeys/assert',
  auth: 'public',
  idempotency: { exempt: 'single_use' },
  bodyBytesMax,
  body: z.strictObject({ ...waiting, assertion: PasskeyAssertion }),
  reply: z.strictObject({ state: PasskeyState }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REFUSED', 'ILLEGAL_TRANSITION'],
});
