import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import {
  ActionName,
  ApprovalId,
  DecisionId,
  EffectLevel,
  Instant,
  PrincipalId,
  ReceiptId,
  SessionId,
  ToolName,
  Verdict,
} from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { Outcome } from './receipt.ts';

/** An attempted action: the decision on it, and its outcome. */
export const Action = z.strictObject({
  decision_id: DecisionId,
  verdict: Verdict,
  reason_code: ReasonCode,
  action: ActionName,
  tool: ToolName.nullable(),
  effect_level: EffectLevel,
  principal_id: PrincipalId,
  session_id: SessionId,
  /** It was only asked what would be decided. */
  shadow: z.boolean(),
  dispatched_by: BoundaryRecord.shape.dispatched_by.unwrap().nullable(),
  /**
   * `open`: the kernel has sent it, and its outcome is not sealed. `none`: it was not sent, or it was sent by its
   * caller, who does not report the outcome.
   */
  outcome: z.enum(['none', 'open', ...Outcome.options]),
  /** That of the decision, and then that of the outcome. */
  receipt_ids: z.array(ReceiptId).min(1).max(2),
  /** The approval that it requested, used, or presented without effect. */
  approval_id: ApprovalId.nullable(),
  decided_at: Instant,
  settled_at: Instant.nullable(),
});
export type Action = z.infer<typeof Action>;

export const ActionFilter = {
  session_id: SessionId.optional(),
  /** The principal whose calls these are. */
  agent: PrincipalId.optional(),
  verdict: Verdict.optional(),
  reason_code: ReasonCode.optional(),
  tool: ToolName.optional(),
  /** Inclusive. */
  from: Instant.optional(),
  /** Exclusive. */
  to: Instant.optional(),
};

export const listActions = defineRoute({
  operation: 'list-actions',
  summary: 'Decisions of the tenant, newest first, each with what became of the call.',
  method: 'GET',
  path: '/api/v1/boundary/actions',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional(), ...ActionFilter, ...PageQuery }),
  reply: page(Action),
});
