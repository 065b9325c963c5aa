import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { defineRoute } from '../route.ts';
import { Instant, ReceiptId } from '../scalars.ts';
import { Checkpoint } from './boundary.ts';

const TenantQuery = { tenant_id: z.string().optional() };
/** Base64 of 32 bytes each, from the leaf up. */
const Hashes = z.array(z.string());

export const getLatestCheckpoint = defineRoute({
  operation: 'get-latest-checkpoint',
  summary: 'Get the newest signed head of the log.',
  method: 'GET',
  path: '/api/v1/log/checkpoint',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject(TenantQuery),
  reply: Checkpoint,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const InclusionProof = z.strictObject({
  receipt_id: ReceiptId,
  log_index: z.int().min(0),
  tree_size: z.int().min(1),
  hashes: Hashes,
  checkpoint: Checkpoint,
});

export const getInclusionProof = defineRoute({
  operation: 'get-inclusion-proof',
  summary: 'Get the proof that a receipt is in the log of a signed checkpoint (RFC 9162, section 2.1.3).',
  method: 'GET',
  path: '/api/v1/log/proof/inclusion',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({ ...TenantQuery, receipt_id: ReceiptId }),
  reply: InclusionProof,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const getTlogProof = defineRoute({
  operation: 'get-tlog-proof',
  summary:
    'Get one receipt with the proof that it is in the log, as a C2SP tlog-proof that verifiers of other projects read.',
  method: 'GET',
  path: '/api/v1/log/proof/tlog',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({ ...TenantQuery, receipt_id: ReceiptId }),
  reply: z.strictObject({
    receipt_id: ReceiptId,
    /** The text of the proof. Its checkpoint contains the cosignatures of witnesses, and its extra line the receipt. */
    tlog_proof: z.string(),
  }),
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const getConsistencyProof = defineRoute({
  operation: 'get-consistency-proof',
  summary: 'Get the proof that the log of `to` leaves extends the log of `from` leaves (RFC 9162, section 2.1.4).',
  method: 'GET',
  path: '/api/v1/log/proof/consistency',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({ ...TenantQuery, from: z.coerce.number().int().min(1), to: z.coerce.number().int().min(1) }),
  reply: z.strictObject({ from: z.int(), to: z.int(), hashes: Hashes }),
  errors: ['INVALID_REQUEST'],
});

export const KeyPurpose = z.enum(['receipts', 'policies', 'log']);
export type KeyPurpose = z.infer<typeof KeyPurpose>;

export const TrustKey = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
  /** The only kind of statement that the key signs: receipts, activations of policies, or checkpoints of the log. */
  purpose: KeyPurpose,
  /** For a log key: the origin line of the one log whose checkpoints it signs. */
  log_origin: z.string().nullable(),
  valid_from: Instant,
  valid_until: Instant.nullable(),
  revoked_at: Instant.nullable(),
});

export const listTrustKeys = defineRoute({
  operation: 'list-trust-keys',
  summary: 'List the public signing keys with their validity windows, as a JWK set.',
  method: 'GET',
  path: '/api/v1/trust/keys',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  reply: z.strictObject({ keys: z.array(TrustKey), log_origin: z.string(), log_vkey: z.string() }),
});
