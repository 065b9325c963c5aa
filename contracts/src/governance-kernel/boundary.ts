import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { page, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { CheckpointId, Digest, Instant, ReceiptId, RecordId, SessionId, ToolName, Verdict } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';

const TenantQuery = { tenant_id: z.string().optional() };

export const listRecords = defineRoute({
  operation: 'list-records',
  summary: 'List the boundary records of the tenant, newest first.',
  method: 'GET',
  path: '/api/v1/boundary/records',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({
    ...TenantQuery,
    verdict: Verdict.optional(),
    reason_code: ReasonCode.optional(),
    tool: ToolName.optional(),
    session_id: SessionId.optional(),
    receipt_id: ReceiptId.optional(),
    ...PageQuery,
  }),
  reply: page(BoundaryRecord),
});

const RecordParams = z.strictObject({ record_id: RecordId });

export const getRecord = defineRoute({
  operation: 'get-record',
  summary: 'Get a boundary record.',
  method: 'GET',
  path: '/api/v1/boundary/records/{record_id}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  params: RecordParams,
  query: z.strictObject(TenantQuery),
  reply: BoundaryRecord,
  errors: ['NOT_FOUND'],
});

const Check = z.strictObject({ check: z.string(), passed: z.boolean(), code: z.string().nullable() });

export const verifyRecord = defineRoute({
  operation: 'verify-record',
  summary: 'Verify a boundary record: its hash, links, signature, chain neighbours and inclusion in the log.',
  method: 'POST',
  path: '/api/v1/boundary/records/{record_id}/verify',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'reads' },
  params: RecordParams,
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    record_id: RecordId,
    verified: z.boolean(),
    checks: z.array(Check),
    receipt_id: ReceiptId,
    checkpoint_id: CheckpointId.nullable(),
    verified_at: Instant,
  }),
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const Checkpoint = z.strictObject({
  checkpoint_id: CheckpointId,
  tree_size: z.int().min(0),
  root_hash: Digest,
  receipt_count: z.int().min(0),
  record_count: z.int().min(0),
  /**
   * A C2SP signed note. If the key of the stored note is no longer valid, answers with proofs contain a newly signed
   * one.
   */
  note: z.string(),
  previous_checkpoint_id: CheckpointId.nullable(),
  created_at: Instant,
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export const listCheckpoints = defineRoute({
  operation: 'list-checkpoints',
  summary: 'List the checkpoints of the log, newest first.',
  method: 'GET',
  path: '/api/v1/boundary/checkpoints',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(Checkpoint),
});

export const createCheckpoint = defineRoute({
  operation: 'create-checkpoint',
  summary: 'Sign the current head of the log.',
  method: 'POST',
  path: '/api/v1/boundary/checkpoints',
  auth: 'admin',
  idempotency: 'key',
  status: 201,
  reply: Checkpoint,
  errors: ['RECEIPT_STORE_UNAVAILABLE'],
});

export const verifyCheckpoint = defineRoute({
  operation: 'verify-checkpoint',
  summary:
    'Verify a checkpoint: its root, its note, and its consistency with the nearest earlier checkpoint of a valid key.',
  method: 'POST',
  path: '/api/v1/boundary/checkpoints/{checkpoint_id}/verify',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'reads' },
  params: z.strictObject({ checkpoint_id: CheckpointId }),
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    checkpoint_id: CheckpointId,
    verified: z.boolean(),
    checks: z.array(Check),
    /**
     * The earlier checkpoint against which `consistency` was checked. Checkpoints of a revoked key are skipped. `null`
     * when there is none.
     */
    extends_checkpoint_id: CheckpointId.nullable(),
    verified_at: Instant,
  }),
  errors: ['NOT_FOUND'],
});
