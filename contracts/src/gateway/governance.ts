import { z } from 'zod';
import { StoredReceipt } from '../governance-kernel/receipt.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, EffectLevel, Instant, ReceiptId, RunId, TaskId, Verdict } from '../scalars.ts';
import { WorkspaceQuery } from './workspaces.ts';

export const getGovernanceStatus = defineRoute({
  operation: 'get-governance-status',
  summary: 'Get whether the kernel is reachable, and the keys that verify its receipts.',
  method: 'GET',
  path: '/api/governance/status',
  auth: 'member',
  right: 'workspace.read',
  query: z.strictObject(WorkspaceQuery),
  reply: z.strictObject({
    configured: z.boolean(),
    /** `true` with GOV_FAIL_CLOSED=1: without a fresh, verified ALLOW nothing is executed. */
    required: z.boolean(),
    live: z.strictObject({ ok: z.boolean(), latencyMs: z.number().min(0), error: z.string().nullable() }).nullable(),
    trustedKeyIds: z.array(z.string()),
    checkedAt: Instant,
  }),
});

export const GovernanceReceipt = z.strictObject({
  decisionId: DecisionId,
  receiptId: ReceiptId,
  receiptHash: Digest,
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  verdict: Verdict,
  reasonCode: z.string(),
  action: z.string(),
  tool: z.string().nullable(),
  effectLevel: EffectLevel,
  principal: z.string(),
  policyHash: Digest.nullable(),
  keyId: z.string(),
  /**
   * `failed`: the signature, hash, key or subject was wrong on arrival. Or the key was later revoked, as of a time before the arrival.
   * The other members are then unproven claims.
   */
  verification: z.enum(['verified', 'failed']),
  /**
   * The reason of the failure: a code of the verifier, or the member that differs from the step. `null` when verified.
   */
  fault: z.string().nullable(),
  /** The time of the latest verification whose result differed from the one before. */
  verifiedAt: Instant,
  receivedAt: Instant,
});
export type GovernanceReceipt = z.infer<typeof GovernanceReceipt>;

export const listGovernanceReceipts = defineRoute({
  operation: 'list-governance-receipts',
  summary: 'List the receipts of the workspace, newest first.',
  method: 'GET',
  path: '/api/governance/receipts',
  auth: 'member',
  right: 'evidence.read',
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(GovernanceReceipt),
});

export const getGovernanceReceipt = defineRoute({
  operation: 'get-governance-receipt',
  summary: 'Get the receipt of a decision, with the signed document.',
  method: 'GET',
  path: '/api/governance/receipts/{decisionId}',
  auth: 'member',
  right: 'evidence.read',
  params: z.strictObject({ decisionId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  reply: GovernanceReceipt.extend({ receipt: StoredReceipt }),
  errors: ['NOT_FOUND'],
});
