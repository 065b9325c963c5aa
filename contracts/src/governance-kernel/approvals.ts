import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  ActionName,
  ApprovalId,
  CallMembers,
  Digest,
  EffectLevel,
  Instant,
  PlainObject,
  PrincipalId,
  ReceiptId,
  ResourceName,
  SessionId,
  storableText,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { BudgetRemainder, CappedFacts, Demand, ReadFacts } from './boundary-record.ts';
import { CallSentence } from './call-sentence.ts';
import { DeclaredDemand } from './evaluate.ts';

const TenantQuery = { tenant_id: z.string().optional() };

export const ApprovalState = z.enum(['pending', 'approved', 'denied', 'expired', 'revoked', 'consumed']);
export type ApprovalState = z.infer<typeof ApprovalState>;

/** The reason for a request or a decision, as text. */
export const ApprovalReason = storableText({ max: 2000 });

const BrokenGlass = z.strictObject({ by: PrincipalId, reason: ApprovalReason, at: Instant });

/** The conditions that must still hold when the approved call is made. */
export const ApprovalPreconditions = z.strictObject({
  /**
   * The pinned definition of the tool when the approval was requested. `null` when the tool is not of a server or has
   * no pin.
   */
  tool_definition_hash: Digest.nullable(),
  /** Set when the rule requires unchanged budgets: what was left of each before the call. */
  budgets: z.array(BudgetRemainder).nullable(),
});
export type ApprovalPreconditions = z.infer<typeof ApprovalPreconditions>;

export const Approval = z.strictObject({
  approval_id: ApprovalId,
  state: ApprovalState,
  tenant_id: z.string(),
  requested_by: PrincipalId,
  session_id: SessionId,
  action: ActionName,
  tool: ToolName.nullable(),
  resource: ResourceName.nullable(),
  effect_level: EffectLevel,
  demand: Demand,
  /**
   * The members of the call that the policy read. `now` is the time of the request. All other members must be the same
   * in the call.
   */
  facts: ReadFacts,
  /** The facts that are too large to be stored. While the approval is pending, `args` contains them. */
  capped_facts: CappedFacts.optional(),
  /**
   * The arguments of a pending approval, in lists of approvals only. `null` in every other answer, and once the
   * approval is resolved.
   */
  args: PlainObject.nullable(),
  /**
   * The sentence that the policy has for this tool, with its placeholders. Absent where the policy has none, and
   * wherever `args` is `null`.
   */
  says: CallSentence.optional(),
  intent_hash: Digest,
  /**
   * The hash of intent, effect, demand and facts, as in the boundary record. A call that differs in any of them is not
   * the approved one.
   */
  judged_hash: Digest,
  policy_hash: Digest.nullable(),
  preconditions: ApprovalPreconditions,
  /** The receipt of the ESCALATE, or of the request in advance. */
  receipt_id: ReceiptId.nullable(),
  reason: z.string(),
  quorum: z.int().min(1),
  approvers: z.array(PrincipalId),
  approved_by: z.array(PrincipalId),
  scope: z.string(),
  uses_remaining: z.int().min(0),
  /** Why it was denied or withdrawn, or expired before its time. `null` when no reason was given. */
  rejection_reason: z.string().nullable(),
  /**
   * The seconds that an approved call waits after the last vote. The approval can be withdrawn in that time. 0 for no
   * wait.
   */
  timelock_seconds: z.int().min(0),
  /** The earliest time of the call. `null` when it is not approved yet, or does not wait. */
  timelock_until: Instant.nullable(),
  /**
   * The person who approved alone although a quorum or a time lock was required, and the reason. `null` when no one
   * did. It is kept permanently.
   */
  break_glass: BrokenGlass.nullable(),
  expires_at: Instant,
  /** Changes with each transition. Send it in quotes as If-Match. */
  ceremony_hash: Digest,
  created_at: Instant,
  updated_at: Instant,
});
export type Approval = z.infer<typeof Approval>;

export const listApprovals = defineRoute({
  operation: 'list-approvals',
  summary: 'List the approvals of the tenant, newest first. Pages with large arguments may be shorter.',
  method: 'GET',
  path: '/api/v1/approvals',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'approval.read' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({
    ...TenantQuery,
    state: ApprovalState.optional(),
    session_id: SessionId.optional(),
    /** Return only this approval. */
    approval_id: ApprovalId.optional(),
    /** `args`: leave out the arguments. Long arguments can otherwise make a page shorter than `limit`. */
    omit: z.literal('args').optional(),
    ...PageQuery,
  }),
  reply: page(Approval),
});

/** Requests an approval in advance, for exactly this call. */
export const createApproval = defineRoute({
  operation: 'create-approval',
  summary: 'Request the approval of one exact call.',
  method: 'POST',
  path: '/api/v1/approvals',
  auth: 'tenant_scoped',
  idempotency: 'key',
  query: z.strictObject(TenantQuery),
  status: 201,
  body: z
    .strictObject({
      action: ActionName,
      tool: ToolName.optional(),
      resource: ResourceName.optional(),
      args: CallMembers.default({}),
      /** The same value as in the later call, because the approval binds it. */
      effect_level: EffectLevel.optional(),
      context: CallMembers.default({}),
      demand: DeclaredDemand.optional(),
      session_id: SessionId,
      reason: ApprovalReason.min(1),
      quorum: z.int().min(1).max(16).default(1),
      approvers: z.array(PrincipalId).max(64).default([]),
      scope: z
        .string()
        .regex(/^(once|uses:[1-9]\d{0,3})$/)
        .default('once'),
      expires_in_seconds: z.int().min(1).max(604_800).default(900),
      timelock_seconds: z.int().min(0).max(604_799).default(0),
    })
    .refine((terms) => terms.timelock_seconds < terms.expires_in_seconds, {
      path: ['timelock_seconds'],
      message: 'must be shorter than expires_in_seconds',
    }),
  reply: Approval,
});

/**
 * `revoke` withdraws a request, or an approval that is not used up. `break_glass` lets one person approve one use
 * within a quarter of an hour, despite a quorum or a time lock. The tenant must have enabled it.
 */
export const ApprovalDecision = z.enum(['approve', 'deny', 'revoke', 'break_glass']);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const transitionApproval = defineRoute({
  operation: 'transition-approval',
  summary:
    'Approve, deny or revoke an approval, or break the glass with a reason. Requires If-Match with the current ' +
    '`ceremony_hash`.',
  method: 'POST',
  path: '/api/v1/approvals/{approval_id}/{action}',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: ['partner', 'owner'],
  params: z.strictObject({ approval_id: ApprovalId, action: ApprovalDecision }),
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ reason: ApprovalReason.optional(), expected_ceremony_hash: Digest.optional() }).default({}),
  reply: Approval,
  errors: [
    'NOT_FOUND',
    'ILLEGAL_TRANSITION',
    'PRECONDITION_REQUIRED',
    'PRECONDITION_FAILED',
    'PERMISSION_DENIED',
    'PASSKEY_REQUIRED',
  ],
});

/** Repeating it changes nothing: an approval that has ended is returned as it is. */
export const withdrawApproval = defineRoute({
  operation: 'withdraw-approval',
  summary: 'Withdraw a pending or unused approval that the caller requested.',
  method: 'POST',
  path: '/api/v1/approvals/{approval_id}/withdraw',
  auth: 'tenant_scoped',
  idempotency: 'key',
  assertedBy: ['agent'],
  params: z.strictObject({ approval_id: ApprovalId }),
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ reason: ApprovalReason.optional() }).default({}),
  reply: Approval,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED'],
});

/** The most approvals that one request ends. The caller repeats the request until `ended` is less. */
export const approvalsEndedAtOnce = 200;

export const endApprovals = defineRoute({
  operation: 'end-approvals',
  summary:
    'End the unused approval requests of a person and their keys, and the unused approvals that they gave. Each ' +
    'end is sealed.',
  method: 'POST',
  path: '/internal/approvals/{tenant}/end',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ person: PrincipalId, reason: ApprovalReason.min(1) }),
  reply: z.strictObject({
    /** How many approvals this request ended. At the maximum, repeat the request. */
    ended: z.int().min(0).max(approvalsEndedAtOnce),
  }),
  errors: ['RECEIPT_STORE_UNAVAILABLE'],
});

/** The text that an approver signs: `countersign.approval.v1` and these members, as canonical JSON. */
export const ApprovalStatement = z.strictObject({
  type: z.literal('countersign.approval.v1'),
  approval_id: ApprovalId,
  tenant_id: z.string(),
  intent_hash: Digest,
  judged_hash: Digest,
  policy_hash: Digest.nullable(),
  ceremony_hash: Digest,
  approver_id: PrincipalId,
  decision: z.enum(['approve', 'deny']),
});

export const approveByKernel = defineRoute({
  operation: 'approve-by-kernel',
  summary: 'Approve a request with an Ed25519 signature of an enrolled approver key.',
  method: 'POST',
  path: '/api/v1/kernel/approve',
  auth: 'service_internal',
  idempotency: 'key',
  body: z.strictObject({
    statement: ApprovalStatement,
    key_id: z.string().min(1).max(128),
    signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
  }),
  reply: Approval,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PERMISSION_DENIED', 'PRECONDITION_FAILED'],
});
