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
 * The outcome of one gate. `not_reached`: an earlier gate decided. `not_applicable`: the gate has nothing to check for
 * this call.
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
 * The most bytes of the canonical JSON of a fact in a record. Larger facts are stored as hashes, so that callers cannot
 * make records large.
 */
export const recordedFactBytesMax = 4096;

/**
 * A fact that is too large to be stored: the SHA-256 of the tenant's salt and its canonical JSON, and the size of that
 * JSON in bytes.
 */
const CappedFact = z.strictObject({ hash: Digest, bytes: z.int().min(recordedFactBytesMax + 1) });

/**
 * Facts that are too large for the record, by path. No path here leads into a fact that is stored in full. Callers
 * cannot write to this member, so none of their values can be mistaken for a hash.
 */
export const CappedFacts = z.record(z.string(), CappedFact);
export type CappedFacts = z.infer<typeof CappedFacts>;

/** The stored part of the normalised call: hashes, and the fields that the policy read. */
export const RecordedIntent = z.strictObject({
  action: ActionName,
  tool: ToolName.nullable(),
  resource: ResourceName.nullable(),
  effect_level: EffectLevel,
  args_hash: Digest,
  /** The hash of tenant, principal, session, action, tool, resource and args_hash. */
  intent_hash: Digest,
  facts: ReadFacts,
  /** Present when a fact is larger than 4 KiB. */
  capped_facts: CappedFacts.optional(),
});
export type RecordedIntent = z.infer<typeof RecordedIntent>;

/** The amounts that a call takes from each of its budgets. */
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
 * The remainder of a budget at the decision. A member is `null` when the budget has no such limit. It is negative when
 * the limit was lowered below the usage.
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

/** A fence at the time of the decision. */
export const RecordedFence = z.strictObject({
  scope: FenceScope,
  kind: z.string(),
  epoch: ControlVersion,
  /** For a throttle, the calls that were left before this call. `null` for a fence of several tenants. */
  calls_remaining: z.int().nullable(),
});
export type RecordedFence = z.infer<typeof RecordedFence>;

/**
 * Why a draft has no verdict on a call: it was not compiled yet, it exceeded the work limit of lanes, it failed, or it
 * was suspended after repeated failures.
 */
export const ShadowFault = z.enum(['not_ready', 'work_exceeded', 'failed', 'suspended']);
export type ShadowFault = z.infer<typeof ShadowFault>;

/** The most names of a draft's rules in a record. `rules_omitted` counts the others. */
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

/** The caller, and how it was proven. */
export const RecordedIdentity = z.strictObject({
  /**
   * `operator_key` claims a principal without proof. The others are proofs. `none` is a visitor of the demo, whom the
   * kernel names.
   */
  credential: z.enum(['none', 'operator_key', 'access_key', 'agent_token', 'assertion', 'oauth_token']),
  /** The id of the access key, of the agent's key (its thumbprint), of the gateway's key, or of the OAuth client. */
  credential_id: z.string().max(128).nullable(),
  credential_state: z.enum(['active', 'revoked', 'unknown']),
  /** The enrolment of the agent of this name in the tenant's registry. */
  enrolment: z.enum(['none', 'active', 'revoked']),
});
export type RecordedIdentity = z.infer<typeof RecordedIdentity>;

/**
 * All inputs of a decision. `record_hash` is the SHA-256 of the canonical JSON of all other members, including
 * `receipt_id`.
 */
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
   * The budgets that limit the call, with the remainder of each before this decision. For the installation's ceiling,
   * all members except the name are `null`, since tenants may not see them.
   */
  budgets: z.array(BudgetRemainder),
  /** Present for a decision: the demand of the call. An ALLOW reserves it from each budget. */
  demand: Demand.optional(),
  /**
   * Present for a decision: the hash that an approval binds. It is the SHA-256 of the canonical JSON of `demand`, of
   * `intent_hash` and `effect_level` of the intent, of its `facts` without `now`, and of its `capped_facts` if present.
   */
  judged_hash: Digest.optional(),
  /** The fences that were in force for the call. Absent when there were none. */
  fences: z.array(RecordedFence).optional(),
  /** Present for a decision: the caller. The bundle of `policy_hash` contains the policy's conditions on the caller. */
  identity: RecordedIdentity.optional(),
  /** The workspace blocks the tool. The rules gate denies the call regardless of the rules. */
  tool_blocked: z.literal(true).optional(),
  /**
   * For `ALLOW`, the approval that this call used. For `ESCALATE`, the approval that it needs. For `DENY`, the approval
   * that it presented.
   */
  approval_id: ApprovalId.nullable(),
  /**
   * Present for a decision: the party that executes the call after an ALLOW. `nobody`: the call was only proposed, so
   * the decision took no budget and no approval. Its execution is decided again and has its own receipt.
   */
  dispatched_by: z.enum(['kernel', 'caller', 'nobody']).optional(),
  /**
   * Present for a decision: the results of the drafts in the tenant's shadow lanes for the same call, by lane. They
   * have no effect.
   */
  shadow: z.array(ShadowVerdict).max(shadowLanesMax),
  created_at: Instant,
  record_hash: Digest,
});
export type BoundaryRecord = z.infer<typeof BoundaryRecord>;
