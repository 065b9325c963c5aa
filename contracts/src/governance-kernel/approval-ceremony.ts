import { z } from 'zod';
import { defineRoute } from '../route.ts';
import {
  ActionName,
  ApprovalId,
  ChallengeId,
  Digest,
  EffectLevel,
  Instant,
  PrincipalId,
  ResourceName,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { Approval, ApprovalDecision, ApprovalPreconditions, ApprovalReason, ApprovalState } from './approvals.ts';
import { CredentialId, PasskeyAssertion, PasskeyPublicKey, VoucherStatement } from './passkeys.ts';

const TenantQuery = { tenant_id: z.string().optional() };
const Base64Url = z.string().regex(/^[A-Za-z0-9_-]+$/);
const challengeMsMax = 300_000;

/** The statement of the challenge. The authenticator signs the SHA-256 of its canonical JSON. */
export const CeremonyStatement = z.strictObject({
  type: z.literal('countersign.approval-ceremony.v1'),
  approval_id: ApprovalId,
  tenant_id: TenantId,
  approver_id: PrincipalId,
  decision: ApprovalDecision,
  /** The reason for breaking the glass, signed by its author. */
  reason: ApprovalReason.optional(),
  action: ActionName,
  tool: ToolName.nullable(),
  resource: ResourceName.nullable(),
  effect_level: EffectLevel,
  intent_hash: Digest,
  judged_hash: Digest,
  policy_hash: Digest.nullable(),
  /** The hash of everything that the approver was shown, and of the approval's state. */
  ceremony_hash: Digest,
  approval_expires_at: Instant,
  rp_id: z.string(),
  origin: z.string(),
  expires_at: Instant,
  nonce: Base64Url,
});
export type CeremonyStatement = z.infer<typeof CeremonyStatement>;

/** The evidence of a vote with a passkey, in its record. The record alone is enough to verify the vote. */
export const CeremonyEvidence = z.object({
  credential: z.literal('passkey'),
  credential_id: CredentialId,
  public_key: PasskeyPublicKey,
  statement: CeremonyStatement,
  client_data_json: Base64Url,
  authenticator_data: Base64Url,
  signature: Base64Url,
  reason: ApprovalReason.optional(),
  ceremony_hash: Digest,
  approved_intent_hash: Digest,
  approved_judged_hash: Digest,
});
export type CeremonyEvidence = z.infer<typeof CeremonyEvidence>;

/** The evidence of a change of an approval in its record. */
export const ApprovalMoveEvidence = z.object({
  state: ApprovalState,
  approved_judged_hash: Digest,
  /** Absent from records that are older than this member. */
  approved_preconditions: ApprovalPreconditions.optional(),
  timelock_until: Instant.optional(),
  /**
   * The number of uses of the approval, with its end in `approved_expires_at`. Records of earlier versions lack both
   * members.
   */
  approved_scope: z
    .string()
    .regex(/^(once|session|until|uses:[1-9][0-9]*)$/)
    .optional(),
  approved_expires_at: Instant.optional(),
  /** Present after break glass. */
  expires_at: Instant.optional(),
});
export type ApprovalMoveEvidence = z.infer<typeof ApprovalMoveEvidence>;

/** The lifetime of a break-glass approval. Long enough for the urgent call, too short for another purpose. */
export const brokenGlassMs = 900_000;

/** The evidence of break glass in its record, by kind of proof of the person. The operator key proves no person. */
export const BrokenGlassEvidence = z.object({
  credential: z.enum(['passkey', 'access_key', 'assertion']),
  reason: z.string().trim().min(1),
  approved_judged_hash: Digest,
  expires_at: Instant,
});

/** The evidence of a voucher in its record. */
export const VoucherEvidence = z.object({
  ...CeremonyEvidence.pick({
    credential: true,
    credential_id: true,
    public_key: true,
    client_data_json: true,
    authenticator_data: true,
    signature: true,
  }).shape,
  statement: VoucherStatement,
  enrolled_credential_id: CredentialId,
  principal_id: PrincipalId,
  enrolled_public_key: PasskeyPublicKey,
});

/** The browser's statement about the requesting page (Web Authentication §5.8.1). It may contain more members. */
export const AuthenticatorClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
});
export type AuthenticatorClientData = z.infer<typeof AuthenticatorClientData>;

export const challengeApproval = defineRoute({
  operation: 'challenge-approval',
  summary:
    'Start a vote with a passkey. The challenge is the hash of the exact vote. It is valid once, for five minutes.',
  method: 'POST',
  path: '/api/v1/approvals/{approval_id}/webauthn/challenge',
  auth: 'tenant_scoped',
  forward: { opensTo: 'partner', right: 'approval.decide', sessionOnly: true },
  idempotency: 'key',
  assertedBy: ['partner', 'owner'],
  params: z.strictObject({ approval_id: ApprovalId }),
  query: z.strictObject(TenantQuery),
  body: z
    .strictObject({
      decision: ApprovalDecision.default('approve'),
      /** Required for `break_glass`, and allowed for no other decision. */
      reason: ApprovalReason.optional(),
      /** The hash of the approval that was shown, equal to If-Match. A hash of another state is rejected. */
      expected_ceremony_hash: Digest.optional(),
      method: z.literal('passkey').default('passkey'),
      ttl_ms: z.int().min(1_000).max(challengeMsMax).default(challengeMsMax),
    })
    .prefault({}),
  status: 201,
  reply: z.strictObject({
    challenge_id: ChallengeId,
    approval_id: ApprovalId,
    method: z.literal('passkey'),
    challenge: Base64Url,
    challenge_hash: Digest,
    statement: CeremonyStatement,
    /** For `navigator.credentials.get`. */
    options: z.record(z.string(), z.json()),
    created_at: Instant,
    expires_at: Instant,
  }),
  errors: [
    'NOT_FOUND',
    'ILLEGAL_TRANSITION',
    'PERMISSION_DENIED',
    'PRECONDITION_FAILED',
    'PASSKEY_REQUIRED',
    'PASSKEYS_UNAVAILABLE',
  ],
});

export const assertApproval = defineRoute({
  operation: 'assert-approval',
  summary: 'Cast the vote of the challenge, with the assertion of an enrolled passkey of the caller.',
  method: 'POST',
  path: '/api/v1/approvals/{approval_id}/webauthn/assert',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: ['partner', 'owner'],
  params: z.strictObject({ approval_id: ApprovalId }),
  query: z.strictObject(TenantQuery),
  bodyBytesMax: 65_536,
  body: z.strictObject({
    challenge_id: ChallengeId,
    assertion: PasskeyAssertion,
    reason: ApprovalReason.optional(),
    /** The signed decision, as stated by the sender. It must be the decision of the challenge. */
    decision: ApprovalDecision.optional(),
  }),
  reply: Approval,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PERMISSION_DENIED', 'PRECONDITION_FAILED', 'PASSKEY_REFUSED'],
});
