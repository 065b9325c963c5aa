import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, PrincipalId, storableText, TenantId } from '../scalars.ts';

const TenantQuery = { tenant_id: z.string().optional() };

/**
 * Bytes in base64url without padding. Each value has only one valid encoding: unused bits of the last character must be
 * zero.
 */
export const Base64Url = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(
      /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{4}|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9_-][AQgw])$/,
      'must be canonical base64url without padding',
    );

/** The id that the authenticator uses: at most 1,023 bytes (Web Authentication §4). */
export const CredentialId = Base64Url(1_364).brand<'CredentialId'>();
export type CredentialId = z.infer<typeof CredentialId>;

/** The public key as a JWK (RFC 7517): ES256, EdDSA or RS256. */
export const PasskeyPublicKey = z.discriminatedUnion('kty', [
  z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: Base64Url(43), y: Base64Url(43) }),
  z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: Base64Url(43) }),
  z.strictObject({ kty: z.literal('RSA'), n: Base64Url(1_366), e: Base64Url(6) }),
]);
export type PasskeyPublicKey = z.infer<typeof PasskeyPublicKey>;

/**
 * `waiting`: enrolled with a bearer token in a tenant that has passkeys. It cannot be used until an approver vouches
 * for it.
 */
export const PasskeyState = z.enum(['waiting', 'active', 'revoked']);
export type PasskeyState = z.infer<typeof PasskeyState>;

export const Passkey = z.strictObject({
  credential_id: CredentialId,
  principal_id: PrincipalId,
  state: PasskeyState,
  public_key: PasskeyPublicKey,
  /** The signature counter of the authenticator. Passkeys that are synchronised between devices stay at 0. */
  counter: z.int().min(0),
  transports: z.array(z.string()),
  /** Whether the passkey may be copied to other devices of its owner. */
  is_backup_eligible: z.boolean(),
  is_backed_up: z.boolean(),
  created_at: Instant,
  /** The principal that enrolled the passkey: its owner or an operator. */
  created_by: PrincipalId,
  /** The principal that made it active. `null` for the first passkey of its tenant, or while the passkey waits. */
  vouched_by: PrincipalId.nullable(),
  last_used_at: Instant.nullable(),
  revoked_at: Instant.nullable(),
});
export type Passkey = z.infer<typeof Passkey>;

/** The answer of an authenticator to `navigator.credentials.get`, as `toJSON()` writes it. */
export const PasskeyAssertion = z.strictObject({
  id: CredentialId,
  rawId: CredentialId,
  type: z.literal('public-key'),
  response: z.strictObject({
    clientDataJSON: Base64Url(8_192),
    authenticatorData: Base64Url(8_192),
    signature: Base64Url(2_048),
    userHandle: Base64Url(128).nullish(),
  }),
  authenticatorAttachment: z.string().max(32).nullish(),
  clientExtensionResults: z.record(z.string().max(64), z.json()).default({}),
});
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

/** The answer of an authenticator to `navigator.credentials.create`, as `toJSON()` writes it. */
export const PasskeyAttestation = z.strictObject({
  id: CredentialId,
  rawId: CredentialId,
  type: z.literal('public-key'),
  response: z.strictObject({
    clientDataJSON: Base64Url(8_192),
    attestationObject: Base64Url(32_768),
    transports: z.array(z.string().max(32)).max(8).optional(),
    /** The browser's copy of a part of the attestation object. Only the attestation object is used. */
    authenticatorData: Base64Url(8_192).optional(),
    publicKey: Base64Url(4_096).nullish(),
    publicKeyAlgorithm: z.int().optional(),
  }),
  authenticatorAttachment: z.string().max(32).nullish(),
  clientExtensionResults: z.record(z.string().max(64), z.json()).default({}),
});
export type PasskeyAttestation = z.infer<typeof PasskeyAttestation>;

/** The argument of `PublicKeyCredential.parse…OptionsFromJSON`. */
export const CeremonyOptions = z.record(z.string(), z.json());

const challenge = { challenge: Base64Url(64), expires_at: Instant, options: CeremonyOptions };
export const ceremonyBytesMax = 65_536;
const ofOperator = z.strictObject({ principal: PrincipalId });
const ofPasskey = z.strictObject({ principal: PrincipalId, credential_id: CredentialId });
const people = ['partner', 'owner'] as const;

export const registerPasskey = defineRoute({
  operation: 'register-passkey',
  summary:
    'Start the enrolment of a passkey. Returns options for `navigator.credentials.create`, valid once for five ' +
    'minutes.',
  method: 'POST',
  path: '/api/v1/identity/operators/{principal}/webauthn/register',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: people,
  params: ofOperator,
  query: z.strictObject(TenantQuery),
  status: 201,
  reply: z.strictObject(challenge),
  errors: ['PERMISSION_DENIED', 'PASSKEYS_UNAVAILABLE', 'ILLEGAL_TRANSITION'],
});

export const verifyPasskey = defineRoute({
  operation: 'verify-passkey',
  summary:
    'Finish the enrolment of a passkey. The first passkey of a tenant is active immediately. Others wait until ' +
    'someone vouches for them.',
  method: 'POST',
  path: '/api/v1/identity/operators/{principal}/webauthn/verify',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: people,
  params: ofOperator,
  query: z.strictObject(TenantQuery),
  bodyBytesMax: ceremonyBytesMax,
  body: z.strictObject({ attestation: PasskeyAttestation }),
  status: 201,
  reply: Passkey,
  errors: ['PERMISSION_DENIED', 'PASSKEY_REFUSED', 'ALREADY_EXISTS', 'PASSKEYS_UNAVAILABLE'],
});

export const listPasskeys = defineRoute({
  operation: 'list-passkeys',
  summary: 'List the passkeys of a person, newest first, including waiting and revoked ones.',
  method: 'GET',
  path: '/api/v1/identity/operators/{principal}/webauthn',
  auth: 'tenant_scoped',
  assertedBy: people,
  params: ofOperator,
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(Passkey),
});

export const revokePasskey = defineRoute({
  operation: 'revoke-passkey',
  summary: 'Revoke a passkey permanently. Votes of the tenant still require a passkey.',
  method: 'DELETE',
  path: '/api/v1/identity/operators/{principal}/webauthn/{credential_id}',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'repeatable' },
  assertedBy: people,
  params: ofPasskey,
  query: z.strictObject(TenantQuery),
  reply: Passkey,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED'],
});

/** The statement of a voucher's challenge. The authenticator signs the SHA-256 of its canonical JSON. */
export const VoucherStatement = z.strictObject({
  type: z.literal('countersign.passkey-voucher.v1'),
  tenant_id: TenantId,
  /** The owner of the passkey. */
  principal_id: PrincipalId,
  credential_id: CredentialId,
  public_key: PasskeyPublicKey,
  vouched_by: PrincipalId,
  rp_id: z.string(),
  origin: z.string(),
  expires_at: Instant,
  nonce: Base64Url(43),
});
export type VoucherStatement = z.infer<typeof VoucherStatement>;

export const challengeVoucher = defineRoute({
  operation: 'challenge-voucher',
  summary: 'Start to vouch for a waiting passkey, of the caller or a colleague, with an active passkey of the caller.',
  method: 'POST',
  path: '/api/v1/identity/operators/{principal}/webauthn/{credential_id}/challenge',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: people,
  params: ofPasskey,
  query: z.strictObject(TenantQuery),
  status: 201,
  reply: z.strictObject({ ...challenge, statement: VoucherStatement }),
  errors: ['NOT_FOUND', 'PASSKEY_REQUIRED', 'ILLEGAL_TRANSITION', 'PASSKEYS_UNAVAILABLE'],
});

export const vouchForPasskey = defineRoute({
  operation: 'vouch-for-passkey',
  summary: 'Vouch for a waiting passkey, which makes it active. The assertion is sealed.',
  method: 'POST',
  path: '/api/v1/identity/operators/{principal}/webauthn/{credential_id}/assert',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: people,
  params: ofPasskey,
  query: z.strictObject(TenantQuery),
  bodyBytesMax: ceremonyBytesMax,
  body: z.strictObject({ assertion: PasskeyAssertion }),
  reply: Passkey,
  errors: ['NOT_FOUND', 'PASSKEY_REFUSED', 'ILLEGAL_TRANSITION'],
});

export const acceptPasskey = defineRoute({
  operation: 'accept-passkey',
  summary: 'Activate a waiting passkey when no approver is left to vouch for it. It is sealed with the reason.',
  method: 'POST',
  path: '/internal/passkeys/{tenant}/{credential_id}/accept',
  auth: 'service_internal',
  idempotency: 'key',
  params: z.strictObject({ tenant: TenantId, credential_id: CredentialId }),
  body: z.strictObject({ reason: storableText({ min: 1, max: 2_000 }), accepted_by: PrincipalId }),
  reply: Passkey,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION'],
});

export const ApprovalTerms = z.strictObject({
  tenant_id: TenantId,
  version: z.int().min(0),
  /** `true` when bearer tokens cannot vote, even before the first passkey. Signatures of enrolled keys still can. */
  signatures_only: z.boolean(),
  /** `true` when one person may approve alone, with a reason, despite a quorum or a time lock. */
  break_glass: z.boolean(),
  /** The time since which votes require a passkey. Once set, it never becomes `null` again. */
  passkeys_since: Instant.nullable(),
  updated_at: Instant,
});
export type ApprovalTerms = z.infer<typeof ApprovalTerms>;

export const putApprovalTerms = defineRoute({
  operation: 'put-approval-terms',
  summary:
    'Set what a vote of a tenant requires, sealed. The version only rises. Repeating the current version confirms it.',
  method: 'PUT',
  path: '/internal/approval-terms/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({
    version: ControlVersion,
    signatures_only: z.boolean(),
    /** `true` when one person may approve alone, with a reason, despite a quorum or a time lock. */
    break_glass: z.boolean().default(false),
  }),
  reply: ApprovalTerms,
  errors: ['ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
