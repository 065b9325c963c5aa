import { z } from 'zod';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import {
  ActionName,
  AmountMinor,
  ApprovalId,
  BudgetId,
  DecisionId,
  Digest,
  EffectLevel,
  Instant,
  CallArguments,
  CallMembers,
  ReceiptId,
  RecordId,
  ResourceName,
  SessionId,
  ToolName,
  Verdict,
} from '../scalars.ts';
import { GateOutcome } from './boundary-record.ts';
import { StoredReceipt } from './receipt.ts';

/** The demand of a call on budgets, as declared by its caller. */
export const DeclaredDemand = z.strictObject({
  spend_minor: AmountMinor.optional(),
  egress_bytes: z.int().min(0).optional(),
});
export type DeclaredDemand = z.infer<typeof DeclaredDemand>;

export const EvaluateRequest = z.strictObject({
  action: ActionName,
  tool: ToolName.optional(),
  resource: ResourceName.optional(),
  args: CallArguments.default({}),
  session_id: SessionId,
  /**
   * The effect that the caller declares. It may raise the effect that the registry or the bundle declares for the tool,
   * and never lowers it. A tool without a declaration there is E4. The caller cannot lower the least effect of an
   * action. For a tenant's own action without a tool, only the caller declares the effect.
   */
  effect_level: EffectLevel.optional(),
  context: CallMembers.default({}),
  mode: z.enum(['enforce', 'shadow']).default('enforce'),
  approval_grant: ApprovalId.optional(),
  demand: DeclaredDemand.optional(),
});
export type EvaluateRequest = z.infer<typeof EvaluateRequest>;

export const ApprovalHandle = z.strictObject({ approval_id: ApprovalId, expires_at: Instant, approve_url: z.string() });
export type ApprovalHandle = z.infer<typeof ApprovalHandle>;

export const BudgetUse = z.strictObject({
  budget_id: BudgetId,
  tool_calls_remaining: z.int().nullable(),
  spend_remaining_minor: z.int().nullable(),
  currency: z.string().nullable(),
});

/** The decision, as all governed routes return it. */
export const DecisionReply = z.strictObject({
  verdict: Verdict,
  /** Whether the caller may act now: the verdict is ALLOW, and the decision is not a shadow decision. */
  allow: z.boolean(),
  /** Present when the call requested `mode: shadow`. */
  shadow: z.literal(true).optional(),
  reason_code: ReasonCode,
  reason: z.string(),
  decision_id: DecisionId,
  record_id: RecordId,
  record_hash: Digest,
  receipt_id: ReceiptId,
  receipt_hash: Digest,
  policy_hash: Digest.nullable(),
  policy_epoch: z.int().min(0),
  lamport_clock: z.int().min(1),
  log_index: z.int().min(0),
  trace: z.array(GateOutcome),
  approval: ApprovalHandle.optional(),
  budget: BudgetUse.optional(),
  receipt: StoredReceipt,
});
export type DecisionReply = z.infer<typeof DecisionReply>;

export const evaluate = defineRoute({
  operation: 'evaluate',
  summary:
    'Decide one action and seal the decision. DENY and ESCALATE are answers, not errors. Only owners can propose ' +
    'governed changes such as `policy.change`, and they can propose nothing else here.',
  method: 'POST',
  path: '/api/v1/evaluate',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent' },
  idempotency: 'key',
  governed: true,
  door: 'evaluate',
  assertedBy: ['agent', 'owner'],
  body: EvaluateRequest,
  reply: DecisionReply,
  errors: ['RESERVED_CONTEXT_KEY', 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_FLIGHT', 'RECEIPT_STORE_UNAVAILABLE'],
});
