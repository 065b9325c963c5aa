import { z } from 'zod';
import { SpendMicros } from '../money.ts';
import { GateName, ReasonCode } from '../reason-codes.ts';
import {
  ActionName,
  AmountMinor,
  ApprovalId,
  BudgetId,
  ControlVersion,
  DecisionId,
  Digest,
  EffectLevel,
  Instant,
  PlainObject,
  PrincipalId,
  ReceiptId,
  RecordId,
  ResourceName,
  SessionId,
  TenantId,
  ToolName,
  Verdict,
  RecordedCurrency,
} from '../scalars.ts';
import { FenceScope } from './fences.ts';
import { RuleId } from './policy-bundle.ts';
import { ReceiptKind } from './receipt.ts';
import { LaneName, shadowLanesMax } from './shadow-lanes.ts';

/**
 * The outcome of one gate. `not_reached`: an earlier gate had already decided. `not_applicable`: the call has nothing
 * this gate judges.
 */
export const GateOutcome = z.strictObject({
  gate: GateName,
  outcome: z.enum(['pass', 'deny', 'escalate', 'not_applicable', 'not_reached']),
  reason_code: ReasonCode.optional(),
  detail: z.string().max(512).optional(),
});
export type GateOutcome = z.infer<typeof GateOutcome>;

/** Values of the policy's read set, by path (`args.amount`, `context.channel`). */
export const ReadFacts = PlainObject;

/**
 * The most bytes of a fact's canonical JSON. A record that held more of each fact would grow with what a caller sends.
 */
export const recordedFactBytesMax = 4096;

/** A fact that is too large to be kept: SHA-256 of the tenant's salt and its canonical JSON, and how many bytes that has. */
const CappedFact = z.strictObject({ hash: Digest, bytes: z.int().min(recordedFactBytesMax + 1) });

/**
 * Capped facts by path, like the facts, and never under the path of one. A caller's value stands in the facts, whatever
 * it looks like.
 */
export const CappedFacts = z.record(z.string(), CappedFact);
export type CappedFacts = z.infer<typeof CappedFacts>;

/** The normalised call, as far as the record keeps it: hashes, and exactly the fields that the policy read. */
export const RecordedIntent = z.strictObject({
  action: ActionName,
  tool: ToolName.nullable(),
  resource: ResourceName.nullable(),
  effect_level: EffectLevel,
  args_hash: Digest,
  /** The hash of tenant, principal, session, action, tool, resource and args_hash. */
  intent_hash: Digest,
  facts: ReadFacts,
  /** Where one of them is above 4 KiB. */
  capped_facts: CappedFacts.optional(),
});
export type RecordedIntent = z.infer<typeof RecordedIntent>;

/** The demand of a call on each of its budgets. */
export const Demand = z.strictObject({
  tool_calls: z.int().min(0),
  /**
   * The maximum cost, in millionths of a minor unit. `null` when it is unknown, so a budget that counts money denies.
   */
  spend_micros: SpendMicros.nullable(),
  egress_bytes: z.int().min(0),
  writes: z.int().min(0),
});
export type Demand = z.infer<typeof Demand>;

/**
 * The remainder of a budget when it was judged. Null: no such ceiling. Below zero: the ceiling was lowered under what
 * was taken.
 */
export const BudgetRemainder = z.strictObject({
  budget_id: BudgetId,
  tool_calls_remaining: z.int().nullable(),
  spend_remaining_micros: z
    .string()
    .regex(/^(0|-?[1-9][0-9]{0,18})$/)
    .nullable(),
  egress_remaining_bytes: z.int().nullable(),
  writes_remaining: z.int().nullable(),
  approval_required_above_minor: AmountMinor.nullable(),
  currency: RecordedCurrency.nullable(),
});
export type BudgetRemainder = z.infer<typeof BudgetRemainder>;

/**
 * A fence as it was judged. The remainder of a throttle is stated as it was before this call; for one around several
 * tenants it is `null`.
 */
export const RecordedFence = z.strictObject({
  scope: FenceScope,
  kind: z.string(),
  epoch: ControlVersion,
  calls_remaining: z.int().nullable(),
});
export type RecordedFence = z.infer<typeof RecordedFence>;

/**
 * The reason why a draft has no verdict on a call. It was not compiled yet, it took more work than lanes may, it
 * failed, or it was suspended because it did so too often.
 */
export const ShadowFault = z.enum(['not_ready', 'work_exceeded', 'failed', 'suspended']);
export type ShadowFault = z.infer<typeof ShadowFault>;

/** A record has room for so many names of a draft's rules; `rules_omitted` counts the others. */
export const shadowRulesMax = 16;

/** The result of a draft, on the facts of the decision. Either a verdict with its reason, or a fault. */
export const ShadowVerdict = z.strictObject({
  lane: LaneName,
  policy_hash: Digest,
  verdict: Verdict.nullable(),
  reason_code: ReasonCode.nullable(),
  matched_rules: z.array(RuleId).max(shadowRulesMax),
  rules_omitted: z.int().min(0),
  fault: ShadowFault.nullable(),
});
export type ShadowVerdict = z.infer<typeof ShadowVerdict>;

/** Who was taken to call, and what showed it. */
export const RecordedIdentity = z.strictObject({
  /**
   * `operator_key` claims a principal and proves none; the others are a proof of their own. `none`: a visitor of the demo, for whom the
   * kernel itself names the principal.
   */
  credential: z.enum(['none', 'operator_key', 'access_key', 'agent_token', 'assertion', 'oauth_token']),
  /** The id of the access key, of the agent's key (its thumbprint), of the gateway's, or of the OAuth client. */
  credential_id: z.string().max(128).nullable(),
  credential_state: z.enum(['active', 'revoked', 'unknown']),
  /** The enrolment of the agent of this name in the tenant's registry. */
  enrolment: z.enum(['none', 'active', 'revoked']),
});
export type RecordedIdentity = z.infer<typeof RecordedIdentity>;

/** Everything a decision was made from. `record_hash` is the SHA-256 of the canonical JSON of all members but itself, `receipt_id` included. */
export const BoundaryRecord = z.strictObject({
  type: z.literal('countersign.record.v1'),
  record_id: RecordId,
  kind: ReceiptKind,
  decision_id: DecisionId,
  receipt_id: ReceiptId,
  tenant_id: TenantId,
  principal_id: PrincipalId,
  session_id: SessionId,
  verdict: Verdict,
  reason_code: ReasonCode,
  intent: RecordedIntent,
  gates: z.array(GateOutcome),
  /** SHA-256 of the canonical JSON of the names in `gates`, in order. */
  gate_roster_hash: Digest,
  policy_hash: Digest.nullable(),
  policy_epoch: z.int().min(0),
  matched_rules: z.array(z.string()),
  authz_snapshot_hash: Digest.nullable(),
  sandbox_grant_hash: Digest.nullable(),
  tool_definition_hash: Digest.nullable(),
  mcp_server_id: z.string().nullable(),
  /**
   * The budgets that limit the call, with what was left of each before this decision took anything. The remainder of
   * the installation's ceiling is hidden from tenants: all its members but the name are `null`.
   */
  budgets: z.array(BudgetRemainder),
  /** Present for a decision: the demand of the call. An ALLOW takes it from each budget. */
  demand: Demand.optional(),
  /**
   * Present for a decision: the hash that an approval binds. SHA-256 of the canonical JSON of `demand`, of
   * `intent_hash` and `effect_level` of the intent, of its `facts` but for `now`, and of its `capped_facts` where it
   * has them.
   */
  judged_hash: Digest.optional(),
  /** The fences in force around the call; absent: none. */
  fences: z.array(RecordedFence).optional(),
  /** Present for a decision: the caller. The policy's demands on the caller are in the bundle of `policy_hash`. */
  identity: RecordedIdentity.optional(),
  /** The workspace blocks the tool: the rules gate denies, whatever the rules say. */
  tool_blocked: z.literal(true).optional(),
  /** On an ALLOW: the approval that this call used once. On an ESCALATE: the one it asks for. On a DENY: the one that was presented. */
  approval_id: ApprovalId.nullable(),
  /**
   * Present for a decision: the party that executes the call after an ALLOW. `nobody`: it was only proposed, so the
   * decision took no budget and no approval; its execution is decided again and has a receipt of its own.
   */
  dispatched_by: z.enum(['kernel', 'caller', 'nobody']).optional(),
  /**
   * Present for a decision: the results of the drafts in the tenant's shadow lanes for the same call, by lane. Nothing
   * rests on it.
   */
  shadow: z.array(ShadowVerdict).max(shadowLanesMax),
  created_at: Instant,
  record_hash: Digest,
});
export type BoundaryRecord = z.infer<typeof BoundaryRecord>;
