import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest, Instant, ReceiptId, SessionId } from '../scalars.ts';
import { StoredReceipt } from './receipt.ts';

const TenantQuery = { tenant_id: z.string().optional() };

/** One chain of receipts. */
export const GraphSession = z.strictObject({
  session_id: SessionId,
  /** The position of its first receipt in the log. */
  first_log_index: z.int().min(0),
  receipts: z.int().min(1),
  /** The hash of its last receipt. */
  head_hash: Digest,
  begun_at: Instant,
  last_issued_at: Instant.nullable(),
});
export type GraphSession = z.infer<typeof GraphSession>;

/** One piece of evidence that a receipt refers to. */
export const GraphEdge = z.discriminatedUnion('relation', [
  /** Its predecessor in the chain. */
  z.strictObject({ relation: z.literal('follows'), receipt_hash: Digest }),
  /** For an outcome: the decision that it settles. */
  z.strictObject({ relation: z.literal('settles'), receipt_id: ReceiptId }),
  /** The approval that it requests, changes or uses. */
  z.strictObject({ relation: z.literal('approval'), approval_id: ApprovalId }),
]);
export type GraphEdge = z.infer<typeof GraphEdge>;

export const GraphReceipt = z.strictObject({ receipt: StoredReceipt, edges: z.array(GraphEdge) });
export type GraphReceipt = z.infer<typeof GraphReceipt>;

export const listGraphSessions = defineRoute({
  operation: 'list-graph-sessions',
  summary: 'List the receipt chains of the tenant, newest first.',
  method: 'GET',
  path: '/api/v1/proofgraph/sessions',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(GraphSession),
});

export const listGraphReceipts = defineRoute({
  operation: 'list-graph-receipts',
  summary: 'List the receipts of a session with the evidence that each refers to, newest first.',
  method: 'GET',
  path: '/api/v1/proofgraph/sessions/{session_id}/receipts',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  params: z.strictObject({ session_id: SessionId }),
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(GraphReceipt),
  errors: ['NOT_FOUND'],
});

export const getGraphReceipt = defineRoute({
  operation: 'get-graph-receipt',
  summary: 'Get a receipt by its hash, the evidence that it refers to, and the next receipt of its chain.',
  method: 'GET',
  path: '/api/v1/proofgraph/receipts/{receipt_hash}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  params: z.strictObject({ receipt_hash: Digest }),
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    ...GraphReceipt.shape,
    /** `null` for the last receipt of its chain. */
    next_hash: Digest.nullable(),
  }),
  errors: ['NOT_FOUND'],
});
