import type { RecordedIdentity } from '@countersign/contracts/governance-kernel';
import type { Preconditions } from './preconditions.ts';

/**
 * A fact that the boundary collected for a gate. `unavailable` means that its source failed or is too stale. The gate
 * then denies with its own code. `not_applicable` means that the gate has nothing to judge in this call.
 */
export type Fact<Value> =
  { state: 'known'; value: Value } | { state: 'not_applicable' } | { state: 'unavailable'; detail: string };

/** `fault`: what is wrong with the call, as text for its caller. `null` when nothing is wrong. */
type RequestFact = { fault: string | null };

/** A current fence on the call. Any kind except a throttle stops it, including unknown kinds. */
export type FenceInForce = {
  scope: string;
  level: 'system' | 'org' | 'tenant' | 'agent' | 'tool' | 'server';
  kind: string;
  epoch: number;
  reason: string;
  /** For a throttle: the calls left in its window before this call. */
  calls_remaining: number | null;
};

/** The active bundle of the tenant. `null` when no bundle is active. */
export type PolicyFact = {
  hash: string;
  epoch: number;
  /** Whether a trusted policy key signed the hash, the epoch and the time. */
  signature_valid: boolean;
  /** Whether no newer statement about the tenant's policy is known. */
  is_newest: boolean;
  /**
   * A rule in which the bundle differs from the current ceilings of the tenant. `null` when the ceilings are the same.
   */
  missing_ceiling: string | null;
  /** Milliseconds since the signed time. Negative when that time is in the future. */
  age_ms: number;
  age_max_ms: number;
} | null;

/**
 * The caller and its proof of identity. An operator key only claims a principal. The identity gate lists the
 * credentials that prove one.
 */
export type IdentityFact = RecordedIdentity;

/**
 * `relations`: the declared relations by name, and whether each holds. A relation that could not be queried is absent.
 * All `required` relations must hold.
 */
export type RelationshipFact = {
  snapshot_hash: string;
  /** Milliseconds since the source last confirmed the snapshot. Negative when that time is in the future. */
  age_ms: number;
  age_max_ms: number;
  relations: Readonly<Record<string, boolean>>;
  required: readonly string[];
};

export type RegistryFact = {
  server_id: string;
  state: 'discovered' | 'quarantined' | 'approved' | 'revoked' | 'expired';
  /** `null` when the server does not list the tool. */
  tool: {
    pinned_hash: string | null;
    /** The hash of the live server's current definition. */
    current_hash: string;
    input_schema: Record<string, unknown>;
  } | null;
};

/** Whether the kernel has received the settings of the call's workspace. */
type SettingsFact = { received: boolean };

type ScopesFact = { required: string[]; granted: string[] };

/** `has_expired`: the grant is no longer valid. `grant_hash` remains set. */
type SandboxFact = { grant_hash: string | null; has_expired?: boolean; required: boolean; overgrants: string[] };

type EgressFact = { destination: string; allowed: boolean; detail: string };

type ProvenanceFact = { through_boundary: boolean };

/**
 * One budget that applies to the call, with what remained of it at the decision. A remaining amount is `null` when the
 * budget does not limit it.
 */
export type BudgetFact = {
  budget_id: string;
  tool_calls_remaining: number | null;
  spend_remaining_micros: bigint | null;
  egress_remaining_bytes: number | null;
  writes_remaining: number | null;
  approval_required_above_minor: number | null;
  currency: string | null;
};

/** The demand of this call on its budgets. `spend_micros` is exact. It is `null` when the maximum cost is unknown. */
export type Demand = { tool_calls: number; spend_micros: bigint | null; egress_bytes: number; writes: number };

/** Whether the workspace blocks the tool of this call. */
type BlockFact = { tool_blocked: boolean };

/** The approval that the caller presented or that covers this intent. `null` for none. */
export type ApprovalFact = {
  approval_id: string;
  state: 'pending' | 'approved' | 'denied' | 'expired' | 'revoked';
  intent_hash: string;
  judged_hash: string;
  policy_hash: string | null;
  /** The conditions at the time of the request, which must still hold for the call. */
  preconditions: Preconditions;
  /** The approvers, each once and never the requester. */
  approved_by: string[];
  /** The person who approved the call alone, instead of all required voters. `null` when the glass was not broken. */
  broken_by: string | null;
  /** The permitted uses, as requested. */
  scope: string;
  /** Seconds from the request of the approval to its expiry. */
  timeout: number;
  /** Seconds of delay after the last vote. */
  timelock: number;
  /** The end of the delay after the last vote. `null` when the delay is over. */
  locked_until: string | null;
  /** The remaining uses. */
  uses_remaining: number;
  expired: boolean;
  /** The reason of the denial or withdrawal. */
  rejection_reason: string | null;
} | null;

/** All inputs of decide(). One frozen object per decision. */
export type Facts = {
  /** RFC 3339 with milliseconds. */
  now: string;
  request: Fact<RequestFact>;
  fence: Fact<FenceInForce[]>;
  /** `not_applicable` in a tenant that is not a workspace. */
  settings: Fact<SettingsFact>;
  policy: Fact<PolicyFact>;
  identity: Fact<IdentityFact>;
  relationship: Fact<RelationshipFact>;
  registry: Fact<RegistryFact>;
  scopes: Fact<ScopesFact>;
  sandbox: Fact<SandboxFact>;
  egress: Fact<EgressFact>;
  provenance: Fact<ProvenanceFact>;
  block: Fact<BlockFact>;
  budgets: Fact<BudgetFact[]>;
  demand: Demand;
  /**
   * The currency of the price table that priced this call. Absent when no table priced it, or when the currency of the
   * table is not configured.
   */
  priced_in?: string;
  /**
   * The hash of the intent, its effect, the demand and the members that the policy reads. An approval is bound to it.
   */
  judged_hash: string;
  approval: Fact<ApprovalFact>;
};
