import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant, PrincipalId, TenantId } from '../scalars.ts';
import { Base64Url, CeremonyOptions, ceremonyBytesMax, CredentialId, Passkey, PasskeyAssertion } from './passkeys.ts';

/**
 * The text behind the challenge of a sign-in: SHA-256 of its canonical JSON is what the authenticator signs. It names
 * no person.
 */
export const SignInStatement = z.strictObject({
  type: z.literal('countersign.sign-in.v1'),
  rp_id: z.string(),
  origin: z.string(),
  expires_at: Instant,
  nonce: Base64Url(43),
});
export type SignInStatement = z.infer<typeof SignInStatement>;

export const challengeSignIn = defineRoute({
  operation: 'challenge-sign-in',
  summary:
    'For a sibling that signs people in: ask for any passkey that was enrolled here. The sibling keeps the statement, and sees to it that it is answered once.',
  method: 'POST',
  path: '/internal/passkeys/sign-in',
  auth: 'service_internal',
  idempotency: 'key',
  status: 201,
  reply: z.strictObject({
    statement: SignInStatement,
    expires_at: Instant,
    /** For `navigator.credentials.get`. */
    options: CeremonyOptions,
  }),
  errors: ['PASSKEYS_UNAVAILABLE'],
});

export const assertSignIn = defineRoute({
  operation: 'assert-sign-in',
  summary:
    'For a sibling that signs people in: whether an active passkey of this person signed the statement. Sealed, and counted.',
  method: 'POST',
  path: '/internal/passkeys/{tenant}/{credential_id}/sign-in',
  auth: 'service_internal',
  idempotency: 'key',
  params: z.strictObject({ tenant: TenantId, credential_id: CredentialId }),
  bodyBytesMax: ceremonyBytesMax,
  body: z.strictObject({ principal_id: PrincipalId, statement: SignInStatement, assertion: PasskeyAssertion }),
  reply: Passkey,
  errors: ['PASSKEY_REFUSED', 'PASSKEYS_UNAVAILABLE', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const revokeOwnPasskey = defineRoute({
  operation: 'revoke-own-passkey',
  summary: 'For a sibling that signs people in: end a passkey for good, as its owner wants.',
  method: 'POST',
  path: '/internal/passkeys/{tenant}/{credential_id}/revoke',
  auth: 'service_internal',
  idempotency: 'key',
  params: z.strictObject({ tenant: TenantId, credential_id: CredentialId }),
  body: z.strictObject({ principal_id: PrincipalId }),
  reply: Passkey,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
