import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant, PrincipalId, TenantId } from '../scalars.ts';
import { Base64Url, CeremonyOptions, ceremonyBytesMax, CredentialId, Passkey, PasskeyAssertion } from './passkeys.ts';

/**
 * The statement of a sign-in challenge. The authenticator signs the SHA-256 of its canonical JSON. It names no person.
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
    'Start a sign-in with any enrolled passkey, for a service that signs people in. The service stores the ' +
    'statement and accepts one answer.',
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
    'Verify that an active passkey of this person signed the sign-in statement. The result is sealed, and the ' +
    'signature counter is stored.',
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
  summary: "Revoke a passkey permanently at its owner's request, for a service that signs people in.",
  method: 'POST',
  path: '/internal/passkeys/{tenant}/{credential_id}/revoke',
  auth: 'service_internal',
  idempotency: 'key',
  params: z.strictObject({ tenant: TenantId, credential_id: CredentialId }),
  body: z.strictObject({ principal_id: PrincipalId }),
  reply: Passkey,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
