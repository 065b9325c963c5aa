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
  /** Whether the decision was a trial (`mode: shadow`). */
  shadow: z.boolean(),
  dispatched_by: BoundaryRecord.shape.dispatched_by.unwrap().nullable(),
  /**
   * `open`: the kernel has sent the call and has not sealed its outcome. `none`: the call was not sent, or its caller
   * sent it without reporting the outcome.
   */
  outcome: z.enum(['none', 'open', ...Outcome.options]),
  /** The receipt of the decision, followed by the receipt of the outcome. */
  receipt_ids: z.array(ReceiptId).min(1).max(2),
  /** The approval that the call requested, used, or presented without effect. `null` without an approval. */
  approval_id: ApprovalId.nullable(),
  decided_at: Instant,
  settled_at: Instant.nullable(),
});
export type Action = z.infer<typeof Action>;

export const ActionFilter = {
  session_id: SessionId.optional(),
  /** The principal that made the calls. */
  agent: PrincipalId.optional(),
  verdict: Verdict.optional(),
  reason_code: ReasonCode.optional(),
  tool: ToolName.optional(),
  /** The start of the period, inclusive. */
  from: Instant.optional(),
  /** The end of the period, exclusive. */
  to: Instant.optional(),
};

export const listActions = defineRoute({
  operation: 'list-actions',
  summary: 'List the decisions of the tenant with the outcomes of their calls, newest first.',
  method: 'GET',
  path: '/api/v1/boundary/actions',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional(), ...ActionFilter, ...PageQuery }),
  reply: page(Action),
});
