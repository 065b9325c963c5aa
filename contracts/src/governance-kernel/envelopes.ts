import { z } from 'zod';
import type { AssertionRole } from '../assertion.ts';
import type { ErrorCode } from '../error-codes.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  Digest,
  Instant,
  ManifestId,
  PlainObject,
  PrincipalId,
  ReceiptId,
  storableText,
  TenantId,
} from '../scalars.ts';

/**
 * `in-toto` and `sigstore` are a DSSE envelope in a Sigstore bundle v0.3, `dsse` is the envelope alone. `cose` and
 * `scitt` are experimental: the drafts and libraries for them still change.
 */
export const EnvelopeForm = z.enum(['dsse', 'in-toto', 'sigstore', 'jws', 'cose', 'scitt']);
export type EnvelopeForm = z.infer<typeof EnvelopeForm>;
export const experimentalForms: readonly EnvelopeForm[] = ['cose', 'scitt'];

export const inTotoPayloadType = 'application/vnd.in-toto+json';
export const inTotoStatementType = 'https://in-toto.io/Statement/v1';
/** The predicate type is a name and not a web address, so it depends on no domain. */
export const nativeEvidencePredicate = 'urn:countersign:predicate:native-evidence:v1';

/** The statement in an envelope. It repeats native evidence and proves nothing that the evidence does not. */
export const NativeEvidence = z.strictObject({
  authoritative: z.literal(false),
  native: z.strictObject({
    /** A receipt, or an evidence pack, identified by the receipt of its end statement. */
    kind: z.enum(['pack', 'receipt']),
    /** The SHA-256 of the bytes of a pack, or, for a receipt, its `receipt_hash`. */
    evidence_hash: Digest,
    tenant_id: TenantId,
    receipt_id: ReceiptId,
    receipt_hash: Digest,
    log_origin: z.string(),
    log_index: z.int().min(0),
    /** The key that signed the receipt. */
    key_id: z.string(),
    issued_at: Instant,
  }),
  /** The verifier of the native evidence, and its required inputs. */
  verify_with: z.literal('countersign-verify <export> --keys <keys.json>'),
});
export type NativeEvidence = z.infer<typeof NativeEvidence>;

/** The statement that every envelope signs, as canonical JSON (RFC 8785). */
export const EvidenceStatement = z.strictObject({
  _type: z.literal(inTotoStatementType),
  subject: z.array(
    z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) }),
  ),
  predicateType: z.literal(nativeEvidencePredicate),
  predicate: NativeEvidence,
});
export type EvidenceStatement = z.infer<typeof EvidenceStatement>;

export const EnvelopeManifest = z.strictObject({
  manifest_id: ManifestId,
  tenant_id: TenantId,
  envelope: EnvelopeForm,
  subject: z.string(),
  native_kind: NativeEvidence.shape.native.shape.kind,
  native_evidence_hash: Digest,
  native_receipt_id: ReceiptId,
  /** SHA-256 of the signed statement. */
  statement_hash: Digest,
  payload_type: z.string(),
  /** SHA-256 of the canonical JSON of the payload. */
  payload_hash: Digest,
  /** The evidence key that signed. */
  key_id: z.string(),
  experimental: z.boolean(),
  /** Always this value, since the native evidence is authoritative. */
  authoritative: z.literal(false),
  native_authority: z.literal(true),
  created_by: PrincipalId,
  created_at: Instant,
  /** The receipt that sealed the manifest. */
  receipt_id: ReceiptId,
  /** SHA-256 of the canonical JSON of all other members but `receipt_id`. */
  manifest_hash: Digest,
});
export type EnvelopeManifest = z.infer<typeof EnvelopeManifest>;

const TenantQuery = { tenant_id: z.string().optional() };
const ManifestParams = z.strictObject({ manifest_id: ManifestId });
const reads = {
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'] as AssertionRole[],
  forward: { opensTo: 'member', right: 'evidence.read' },
} as const;

export const listEnvelopes = defineRoute({
  operation: 'list-envelopes',
  summary: "List the manifests of the tenant's evidence envelopes, newest first.",
  method: 'GET',
  path: '/api/v1/evidence/envelopes',
  ...reads,
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(EnvelopeManifest),
});

export const createEnvelope = defineRoute({
  operation: 'create-envelope',
  summary:
    'Sign an envelope for other tools around an exported pack or a receipt. The native evidence stays authoritative.',
  method: 'POST',
  path: '/api/v1/evidence/envelopes',
  auth: 'tenant_scoped',
  assertedBy: ['owner'],
  forward: { opensTo: 'owner', right: 'evidence.publish' },
  idempotency: 'key',
  query: z.strictObject(TenantQuery),
  body: z.strictObject({
    envelope: EnvelopeForm,
    /** `X-Gov-Evidence-Hash` of an export, or a `receipt_hash`. */
    native_evidence_hash: Digest,
    /** The name of the artefact in the statement, such as a file name. */
    subject: storableText({ min: 1, max: 256 }).optional(),
    /** Required for `cose` and `scitt`. */
    experimental: z.boolean().default(false),
  }),
  status: 201,
  reply: EnvelopeManifest,
  errors: ['INVALID_REQUEST', 'NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'] as ErrorCode[],
});

export const getEnvelope = defineRoute({
  operation: 'get-envelope',
  summary: 'Get the manifest of an envelope.',
  method: 'GET',
  path: '/api/v1/evidence/envelopes/{manifest_id}',
  ...reads,
  params: ManifestParams,
  query: z.strictObject(TenantQuery),
  reply: EnvelopeManifest,
  errors: ['NOT_FOUND'],
});

export const getEnvelopePayload = defineRoute({
  operation: 'get-envelope-payload',
  summary: 'Get the signed envelope: a DSSE envelope, a Sigstore bundle, `{ jws }`, or `{ cose }` in base64.',
  method: 'GET',
  path: '/api/v1/evidence/envelopes/{manifest_id}/payload',
  ...reads,
  params: ManifestParams,
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    manifest_id: ManifestId,
    envelope: EnvelopeForm,
    payload_type: z.string(),
    payload: PlainObject,
    /** SHA-256 of the canonical JSON of the payload. */
    payload_hash: Digest,
    authoritative: z.literal(false),
  }),
  errors: ['NOT_FOUND'],
});

export const EnvelopeChecks = z.strictObject({
  /** Whether the native evidence is in the log of this kernel. */
  native_evidence: z.boolean(),
  /** Whether a receipt seals exactly this manifest. */
  manifest_hash: z.boolean(),
  payload_hash: z.boolean(),
  /** Whether the payload contains the statement of the manifest, in exactly the form that the kernel writes. */
  statement: z.boolean(),
  /** Whether the signature is valid. */
  signature: z.boolean(),
  /** Whether the key was valid when the manifest was sealed. */
  key_window: z.boolean(),
  /** Whether the key is not revoked, or a sealed receipt proves that the envelope was created before the revocation. */
  key_not_revoked: z.boolean(),
});
export type EnvelopeChecks = z.infer<typeof EnvelopeChecks>;

export const verifyEnvelope = defineRoute({
  operation: 'verify-envelope',
  summary:
    'Verify a stored envelope: its hashes, its signature and its native evidence. It proves no more than the native evidence.',
  method: 'POST',
  path: '/api/v1/evidence/envelopes/{manifest_id}/verify',
  ...reads,
  idempotency: { exempt: 'reads' },
  params: ManifestParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({}),
  reply: z.strictObject({
    manifest_id: ManifestId,
    verified: z.boolean(),
    checks: EnvelopeChecks,
    native_evidence_hash: Digest,
    authoritative: z.literal(false),
    checked_at: Instant,
  }),
  errors: ['NOT_FOUND'],
});

const evidenceKeyMembers = {
  kid: z.string(),
  use: z.literal('sig'),
  /** Evidence keys sign envelopes and nothing else. */
  purpose: z.literal('evidence'),
  /** Always `null`, since only log keys belong to a log. */
  log_origin: z.null(),
  valid_from: Instant,
  valid_until: Instant.nullable(),
  /** `null` when the key is not revoked. Only a trust list (`trust.json`) can revoke it. */
  revoked_at: Instant.nullable(),
};

/** A key that signs envelopes and nothing else. It is a valid entry of a trust list. */
export const EvidenceKey = z.discriminatedUnion('kty', [
  z.strictObject({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.string(),
    y: z.string(),
    alg: z.literal('ES256'),
    ...evidenceKeyMembers,
  }),
  z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string(),
    alg: z.literal('EdDSA'),
    ...evidenceKeyMembers,
  }),
]);
export type EvidenceKey = z.infer<typeof EvidenceKey>;

export const listEvidenceKeys = defineRoute({
  operation: 'list-evidence-keys',
  summary:
    'List the public keys of envelopes with their windows and revocations: ECDSA P-256 for DSSE and COSE, Ed25519 for JWS.',
  method: 'GET',
  path: '/api/v1/trust/evidence-keys',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  reply: z.strictObject({ keys: z.array(EvidenceKey) }),
});
