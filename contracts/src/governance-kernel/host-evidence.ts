import { z } from 'zod';
import type { AssertionRole } from '../assertion.ts';
import type { ErrorCode } from '../error-codes.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  DecisionId,
  Digest,
  HostChainId,
  HostDriftId,
  Instant,
  PrincipalId,
  ReceiptId,
  TenantId,
  Verdict,
} from '../scalars.ts';
import { HostChain, hostChainBytesMax, hostChainValuesMax, RecorderKey } from './host-chain.ts';

/**
 * `verified`: hash, link and signature are correct, under a key that the importer pinned. `not_verified`: no fault was
 * found, but there is no proof. `failed`: hash, link, signature or the format of its hardware evidence is wrong.
 */
export const HostReceiptState = z.enum(['verified', 'not_verified', 'failed']);
export type HostReceiptState = z.infer<typeof HostReceiptState>;

/** Why a receipt is not verified, or failed. */
export const HostReceiptReason = z.enum([
  'hash_mismatch',
  'link_broken',
  'signature_invalid',
  'hardware_evidence_malformed',
  'predecessor_unknown',
  'unsigned',
  'key_unknown',
  'hardware_root_unsupported',
]);
export type HostReceiptReason = z.infer<typeof HostReceiptReason>;

/**
 * `without_intent`: no decision of the tenant covers the event. `after_deny`: the last decision before the event was
 * not an ALLOW. `destination_mismatch`: its decision allowed another destination. `volume_exceeded`: the events of its
 * decision sent more bytes than allowed.
 */
export const HostDriftKind = z.enum(['without_intent', 'after_deny', 'destination_mismatch', 'volume_exceeded']);
export type HostDriftKind = z.infer<typeof HostDriftKind>;

/** The names that link an event to its decision. An agent alone is not enough. */
export const HostMatch = z.enum(['decision', 'session', 'workload', 'agent', 'destination']);
export type HostMatch = z.infer<typeof HostMatch>;

/** One drift. All members but `receipt_id` are sealed in the record of that receipt. */
export const HostDrift = z.strictObject({
  drift_id: HostDriftId,
  kind: HostDriftKind,
  /** The import that found the drift. */
  host_chain_id: HostChainId,
  chain_hash: Digest,
  host_receipt_id: z.string(),
  host_receipt_hash: Digest,
  host_receipt_state: z.enum(['verified', 'not_verified']),
  observed_at: Instant,
  destination: z.string(),
  bytes_sent: z.int().min(0),
  /** The decision that matches the event best. `null` when no decision matches. */
  decision_id: DecisionId.nullable(),
  decision_receipt_id: ReceiptId.nullable(),
  verdict: Verdict.nullable(),
  matched_by: z.array(HostMatch),
  /** The destinations that the decision named, at most 16 of them. */
  expected_destinations: z.array(z.string()).max(16),
  /** For `volume_exceeded`: the bytes that the decision allowed. `null` for other kinds. */
  bytes_allowed: z.int().min(0).nullable(),
  /** For `volume_exceeded`: the bytes of all events of the decision so far. `null` for other kinds. */
  bytes_counted: z.int().min(0).nullable(),
  detected_at: Instant,
  /** The receipt that sealed this drift. */
  receipt_id: ReceiptId,
});
export type HostDrift = z.infer<typeof HostDrift>;

/** The result for one receipt of the recorder. */
export const HostReceiptReport = z.strictObject({
  position: z.int().min(1),
  host_receipt_id: z.string(),
  /** The hash that this kernel computed. */
  host_receipt_hash: Digest,
  state: HostReceiptState,
  reasons: z.array(HostReceiptReason),
  /**
   * `not_judged`: the receipt failed. `known`: an earlier import compared it. `correlated`: a decision covers it.
   * `drift`: see the member `drift`.
   */
  correlation: z.enum(['not_judged', 'known', 'correlated', 'drift']),
  decision_receipt_id: ReceiptId.nullable(),
  matched_by: z.array(HostMatch),
  drift: z.strictObject({ drift_id: HostDriftId, kind: HostDriftKind }).nullable(),
});
export type HostReceiptReport = z.infer<typeof HostReceiptReport>;

/** The limits of a correlation, stated in each answer. */
export const hostEvidenceNotice =
  'A correlation compares what a recorder reports with what this kernel sealed. It enforces nothing and blocks no packet, ' +
  'what no recorder saw is not in it, and a receipt proves no more than its state says.';

const judgement = { enforcement: z.literal(false), notice: z.literal(hostEvidenceNotice) };

export const HostChainReport = z.strictObject({
  host_chain_id: HostChainId,
  tenant_id: TenantId,
  chain_id: z.string(),
  chain_hash: Digest,
  source: HostChain.shape.source,
  /** The source of the keys. The caller of this import pinned them, and the kernel uses no others. */
  key_source: z.literal('pinned_by_importer'),
  key_ids: z.array(z.string()),
  counts: z.strictObject({
    receipts: z.int(),
    verified: z.int(),
    not_verified: z.int(),
    failed: z.int(),
    drift: z.int(),
  }),
  receipts: z.array(HostReceiptReport),
  imported_by: PrincipalId,
  imported_at: Instant,
  /** The receipt that sealed the import. */
  receipt_id: ReceiptId,
  ...judgement,
});
export type HostChainReport = z.infer<typeof HostChainReport>;

const TenantQuery = { tenant_id: z.string().optional() };
const reads = {
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'] as AssertionRole[],
  forward: { opensTo: 'member', right: 'evidence.read' },
} as const;

export const importHostChain = defineRoute({
  operation: 'import-host-chain',
  summary:
    'Import the receipt chain of an independent recorder. Each receipt is verified and compared with sealed ' +
    'decisions, and each Boundary Drift is sealed once. The same import returns the same answer.',
  method: 'POST',
  path: '/api/v1/evidence/host/chains',
  auth: 'tenant_scoped',
  assertedBy: ['owner'],
  forward: { opensTo: 'owner', right: 'evidence.publish' },
  idempotency: 'key',
  query: z.strictObject(TenantQuery),
  bodyBytesMax: hostChainBytesMax,
  bodyValuesMax: hostChainValuesMax,
  body: z.strictObject({
    chain: HostChain,
    /** Public keys of the recorder, supplied by its operator. Without a key, no receipt is verified. */
    keys: z.array(RecorderKey).max(8).default([]),
  }),
  reply: HostChainReport,
  errors: ['INVALID_REQUEST', 'LIMIT_REACHED', 'RECEIPT_STORE_UNAVAILABLE'] as ErrorCode[],
});

export const getHostChain = defineRoute({
  operation: 'get-host-chain',
  summary: 'Get an imported chain of a recorder, with its report.',
  method: 'GET',
  path: '/api/v1/evidence/host/chains/{host_chain_id}',
  ...reads,
  params: z.strictObject({ host_chain_id: HostChainId }),
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({ report: HostChainReport, chain: HostChain }),
  errors: ['NOT_FOUND'],
});

export const listHostDrift = defineRoute({
  operation: 'list-host-drift',
  summary: 'List the Boundary Drift in imported chains of recorders, newest first.',
  method: 'GET',
  path: '/api/v1/evidence/host/drift',
  ...reads,
  query: z.strictObject({
    ...TenantQuery,
    ...PageQuery,
    kind: HostDriftKind.optional(),
    host_chain_id: HostChainId.optional(),
  }),
  reply: page(HostDrift).extend(judgement),
});

/** The number of sealed drifts by kind, for the event of an import. */
export const HostDriftCounts = z.strictObject({
  without_intent: z.int().min(0),
  after_deny: z.int().min(0),
  destination_mismatch: z.int().min(0),
  volume_exceeded: z.int().min(0),
});
