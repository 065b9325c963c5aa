import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, ChallengeId, Digest } from '../scalars.ts';
import { ApprovalReason, ApprovalState } from './approvals.ts';
import { PasskeyAssertion, PasskeyAttestation, PasskeyState } from './passkeys.ts';

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
  summary: 'Begin to approve what the page showed, with a passkey of whoever is signed in.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/challenge',
  auth: 'public',
  params,
  body: z.strictObject({ ceremony_hash: Digest, csrf_token: CsrfToken }),
  reply: z.strictObject({ challenge_id: ChallengeId, options }),
  errors: ['NOT_FOUND', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED', 'PRECONDITION_FAILED'],
});

export const assertOnPage = defineRoute({
  operation: 'assert-on-page',
  summary: 'Approve what the page showed, by the assertion of a passkey.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/assert',
  auth: 'public',
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
  summary: 'Begin to enrol a passkey of whoever is signed in.',
  method: 'POST',
  path: '/approvals/{approval_id}/passkey/register',
  auth: 'public',
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
  bodyBytesMax,
  params,
  body: z.strictObject({ csrf_token: CsrfToken, attestation: PasskeyAttestation }),
  reply: z.strictObject({ state: PasskeyState }),
  errors: ['CREDENTIALS_INVALID', 'PERMISSION_DENIED', 'PASSKEY_REFUSED', 'ALREADY_EXISTS'],
});
