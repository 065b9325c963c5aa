import { z } from 'zod';
import { auditMembers, AuditVerdict } from '../audit.ts';
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
  summary: 'The hash-chained audit log of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit',
  auth: 'member',
  right: 'audit.read',
  query: z.strictObject({
    ...WorkspaceQuery,
    action: storableText({ max: 128 }).optional(),
    actor: storableText({ max: 256 }).optional(),
    verdict: AuditVerdict.optional(),
    /** Inclusive. */
    from: Instant.optional(),
    /** Exclusive. */
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
  summary: 'The whole audit log, oldest first, one JSON text a line; `countersign-verify --audit` checks it offline.',
  method: 'GET',
  path: '/api/audit/export',
  auth: 'member',
  right: 'audit.read',
  query: z.strictObject(WorkspaceQuery),
  media: 'json-lines',
  reply: z.unknown(),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

/**
 * The budget demand of a call, as the kernel judges it. Money in millionths of a minor unit; `null` when its maximum is
 * unknown.
 */
export const WorkspaceDemand = z.strictObject({
  toolCalls: z.int().min(0),
  spendMicros: SpendMicros.nullable(),
  egressBytes: z.int().min(0),
  writes: z.int().min(0),
});
export type WorkspaceDemand = z.infer<typeof WorkspaceDemand>;

export const WorkspaceApproval = z.strictObject({
  id: ApprovalId,
  workspaceId: WorkspaceId,
  /** Null, as the run: the call of an API key asks. */
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  /** The key that asks, by its name of then; null: a run does. */
  apiKey: z.strictObject({ id: ApiKeyId, name: z.string() }).nullable(),
  /** The session of the call: the run, or what the caller named. */
  sessionId: SessionId,
  status: ApprovalStatus,
  action: z.string(),
  tool: z.string().nullable(),
  resource: z.string().nullable(),
  /** The exact arguments that would be executed; of a model call, what the policy may read of its request. */
  args: z.record(z.string(), z.json()),
  /** The members of the call that the policy read, its context included. */
  facts: z.record(z.string(), z.json()),
  effectLevel: EffectLevel,
  demand: WorkspaceDemand,
  reasonCode: z.string(),
  /** In the words of the policy or budget that asks. */
  reason: z.string(),
  /** The principal that asked, an agent or a key; it may never resolve its own request. */
  requestedBy: z.string(),
  /** The person who started the run, or made the key. May not resolve it if another person could. */
  startedBy: UserId,
  /** The approval in the kernel that this one stands for. */
  kernelApprovalId: ApprovalId,
  decisionId: DecisionId.nullable(),
  /** `null` also when an approver of the kernel who is no person of the workspace decided; the audit names them. */
  resolvedBy: UserId.nullable(),
  resolvedAt: Instant.nullable(),
  /** Approved by the person who started the run or made the key, since there was no other approver. */
  selfApproved: z.boolean(),
  /** Until when the approved call waits, so that it can be withdrawn; null: it does not wait. */
  timelockUntil: Instant.nullable(),
  expiresAt: Instant,
  createdAt: Instant,
});
export type WorkspaceApproval = z.infer<typeof WorkspaceApproval>;

export const listWorkspaceApprovals = defineRoute({
  operation: 'list-workspace-approvals',
  summary: 'Approvals of the workspace, newest first.',
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
  summary: 'One approval of the workspace, and whether the person who asks may resolve it.',
  method: 'GET',
  path: '/api/audit/approvals/{id}',
  auth: 'member',
  right: 'approval.read',
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: WorkspaceApproval.extend({
    /**
     * Follows from the person's role and from the owner of the run or key. The policy may still name other approvers.
     */
    mayResolve: z.boolean(),
  }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

/**
 * The reason why the workspace does not let a person approve. Their role may be below partner, or the run or key that
 * requested it may be unknown. The request may also be of their own run or key while another partner or owner can
 * decide.
 */
export const ResolverObstacle = DecisionObstacle.extract(['ROLE', 'OWN_REQUEST', 'UNKNOWN_REQUESTER']);
export type ResolverObstacle = z.infer<typeof ResolverObstacle>;

/** The number of approvals on one page. */
const requestsMax = 200;

export const checkResolver = defineRoute({
  operation: 'check-resolver',
  summary: 'The obstacle that keeps the calling person from approving requests of these principals.',
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
  /** In the order of the requests. `null` when nothing does. */
  reply: z.strictObject({ obstacles: z.array(ResolverObstacle.nullable()) }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const resolveWorkspaceApproval = defineRoute({
  operation: 'resolve-workspace-approval',
  summary:
    'Approve or reject once. A partner or the owner decides. The requester never does, and the owner of its run or key only if there is no other approver.',
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
    /** Sealed by the kernel; the run says why it was rejected. */
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
  /** Who refused: the kernel, or a rule of the workspace before the kernel was asked. */
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
  summary: 'Policy violations of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit/violations',
  auth: 'member',
  right: 'evidence.read',
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(Violation),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
