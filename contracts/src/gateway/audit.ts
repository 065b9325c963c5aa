import { z } from 'zod';
import { AuditExportEnd, auditMembers, AuditPageQuery, AuditVerdict } from '../audit.ts';
import { DecisionObstacle } from '../decision-obstacle.ts';
import { camelPage, PageQuery } from '../list.ts';
import { SpendMicros } from '../money.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { ApprovalStatus } from '../run-states.ts';
import {
  ApiKeyId,
  ApprovalId,
  DecisionId,
  EffectLevel,
  Instant,
  PrincipalId,
  ReceiptId,
  RunId,
  SessionId,
  StepId,
  storableText,
  TaskId,
  UserId,
  WorkspaceId,
} from '../scalars.ts';
import { PathId, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** `hash` = SHA-256 over the canonical JSON (RFC 8785) of all other members; `prevHash` is the hash of `seq` - 1. */
export const AuditEntry = z.strictObject({
  ...auditMembers,
  workspaceId: WorkspaceId,
  /** A user id, or the principal of an agent or of an API key. */
  actor: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const listAudit = defineRoute({
  operation: 'list-audit',
  summary: 'List the hash-chained audit log of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit',
  auth: 'member',
  right: 'audit.read',
  query: z.strictObject({
    ...WorkspaceQuery,
    action: storableText({ max: 128 }).optional(),
    actor: storableText({ max: 256 }).optional(),
    verdict: AuditVerdict.optional(),
    /** The start of the period, inclusive. */
    from: Instant.optional(),
    /** The end of the period, exclusive. */
    to: Instant.optional(),
    ...PageQuery,
  }),
  reply: camelPage(AuditEntry),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

/** First line of an export; the entries follow, oldest first, and then an AuditExportEnd. */
export const AuditExportHeader = z.strictObject({
  format: z.literal('countersign/audit-export.v1'),
  workspaceId: WorkspaceId,
  exportedAt: Instant,
});
export type AuditExportHeader = z.infer<typeof AuditExportHeader>;

export const exportAudit = defineRoute({
  operation: 'export-audit',
  summary: 'Export the audit log as JSON lines, oldest first. `countersign-verify --audit` verifies it offline.',
  method: 'GET',
  path: '/api/audit/export',
  auth: 'member',
  right: 'audit.read',
  query: z.strictObject(WorkspaceQuery),
  media: 'json-lines',
  reply: z.unknown(),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const readAuditChain = defineRoute({
  operation: 'read-audit-chain',
  summary: "List the gateway's audit chain of a workspace for compliance reports, oldest first, with its end.",
  method: 'GET',
  path: '/internal/workspaces/{workspace_id}/audit',
  auth: 'service_internal',
  params: z.strictObject({ workspace_id: WorkspaceId }),
  query: AuditPageQuery,
  reply: z.strictObject({ ...AuditExportEnd.shape, data: z.array(AuditEntry) }),
  errors: ['NOT_FOUND'],
});

/** The amounts that a call takes from budgets, as the kernel evaluates them. */
export const WorkspaceDemand = z.strictObject({
  toolCalls: z.int().min(0),
  /** The maximum cost, in millionths of a minor unit. `null` when it is unknown. */
  spendMicros: SpendMicros.nullable(),
  egressBytes: z.int().min(0),
  writes: z.int().min(0),
});
export type WorkspaceDemand = z.infer<typeof WorkspaceDemand>;

export const WorkspaceApproval = z.strictObject({
  id: ApprovalId,
  workspaceId: WorkspaceId,
  /** `null` when the call was made with an API key and without a run. */
  taskId: TaskId.nullable(),
  /** `null` when the call was made with an API key and without a run. */
  runId: RunId.nullable(),
  /** The key that made the call, with its name at that time. `null` when a run made it. */
  apiKey: z.strictObject({ id: ApiKeyId, name: z.string() }).nullable(),
  /** The session of the call: the run, or the session that the caller named. */
  sessionId: SessionId,
  status: ApprovalStatus,
  action: z.string(),
  tool: z.string().nullable(),
  resource: z.string().nullable(),
  /**
   * The exact arguments that would be executed. For a model call, the members of its request that the policy can read.
   */
  args: z.record(z.string(), z.json()),
  /** The members of the call that the policy read, including its context. */
  facts: z.record(z.string(), z.json()),
  effectLevel: EffectLevel,
  demand: WorkspaceDemand,
  reasonCode: z.string(),
  /** The reason of the policy rule or the budget that requires the approval. */
  reason: z.string(),
  /** The agent or key that made the request. It may never resolve its own request. */
  requestedBy: z.string(),
  /** The person who started the run or created the key. This person may not resolve the request if another can. */
  startedBy: UserId,
  /** The id of this approval in the kernel. */
  kernelApprovalId: ApprovalId,
  decisionId: DecisionId.nullable(),
  /**
   * The member who resolved the request. `null` while it is open, or when an approver of the kernel who is not a member
   * resolved it. The audit log names that approver.
   */
  resolvedBy: UserId.nullable(),
  resolvedAt: Instant.nullable(),
  /** `true` when the person who started the run or made the key approved, since there was no other approver. */
  selfApproved: z.boolean(),
  /** The approved call waits until this time and can be withdrawn before. `null` when it does not wait. */
  timelockUntil: Instant.nullable(),
  expiresAt: Instant,
  createdAt: Instant,
});
export type WorkspaceApproval = z.infer<typeof WorkspaceApproval>;

export const listWorkspaceApprovals = defineRoute({
  operation: 'list-workspace-approvals',
  summary: 'List the approvals of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit/approvals',
  auth: 'member',
  right: 'approval.read',
  query: z.strictObject({ ...WorkspaceQuery, status: ApprovalStatus.optional(), ...PageQuery }),
  reply: camelPage(WorkspaceApproval),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const getWorkspaceApproval = defineRoute({
  operation: 'get-workspace-approval',
  summary: 'Get an approval of the workspace, and whether the calling person may resolve it.',
  method: 'GET',
  path: '/api/audit/approvals/{id}',
  auth: 'member',
  right: 'approval.read',
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: WorkspaceApproval.extend({
    /** Computed from the person's role and the owner of the run or key. The policy may still name other approvers. */
    mayResolve: z.boolean(),
  }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

/**
 * The reason why a person may not approve in the workspace. `ROLE`: their role is below partner. `UNKNOWN_REQUESTER`:
 * the run or key is unknown. `OWN_REQUEST`: it is their own run or key, and another partner or owner can decide.
 */
export const ResolverObstacle = DecisionObstacle.extract(['ROLE', 'OWN_REQUEST', 'UNKNOWN_REQUESTER']);
export type ResolverObstacle = z.infer<typeof ResolverObstacle>;

/** The number of approvals on one page. */
const requestsMax = 200;

export const checkResolver = defineRoute({
  operation: 'check-resolver',
  summary: 'Get the reason why the calling person cannot approve requests of these principals.',
  method: 'POST',
  path: '/api/audit/approvals/resolver',
  auth: 'member',
  right: 'approval.read',
  idempotency: { exempt: 'reads' },
  sessionOnly: true,
  opensToPrograms: true,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    requests: z
      .array(z.strictObject({ requestedBy: PrincipalId, sessionId: SessionId }))
      .min(1)
      .max(requestsMax),
  }),
  /** The obstacle of each request, in the order of the requests. `null` for a request without an obstacle. */
  reply: z.strictObject({ obstacles: z.array(ResolverObstacle.nullable()) }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const resolveWorkspaceApproval = defineRoute({
  operation: 'resolve-workspace-approval',
  summary:
    'Approve or reject a request, once. The requester cannot do this. The owner of its run or key can only if ' +
    'there is no other approver.',
  method: 'PUT',
  path: '/api/audit/approvals/{id}',
  auth: 'partner',
  right: 'approval.decide',
  idempotency: { exempt: 'repeatable' },
  sessionOnly: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    status: z.enum(['approved', 'rejected']),
    /** The reason of the vote, which the kernel seals. After a rejection, the error of the run also contains it. */
    reason: storableText({ max: 2000 }).optional(),
  }),
  reply: WorkspaceApproval,
  errors: [
    'NOT_FOUND',
    'PERMISSION_DENIED',
    'MAY_NOT_DECIDE',
    'PASSKEY_REQUIRED',
    'ILLEGAL_TRANSITION',
    'GOVERNANCE_UNAVAILABLE',
    'WORKSPACE_CONTEXT_CONFLICT',
  ],
});

export const Violation = z.strictObject({
  id: z.string(),
  workspaceId: WorkspaceId,
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  stepId: StepId.nullable(),
  /** The source of the refusal: the kernel, or a rule of the workspace before the call reached the kernel. */
  source: z.enum(['kernel', 'workspace']),
  tool: z.string().nullable(),
  reasonCode: z.union([ReasonCode, z.string()]),
  reason: z.string(),
  decisionId: DecisionId.nullable(),
  receiptId: ReceiptId.nullable(),
  createdAt: Instant,
});
export type Violation = z.infer<typeof Violation>;

export const listViolations = defineRoute({
  operation: 'list-violations',
  summary: 'List the policy violations of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit/violations',
  auth: 'member',
  right: 'evidence.read',
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(Violation),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
