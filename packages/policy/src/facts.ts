import type { RecordedIdentity } from '@countersign/contracts/governance-kernel';
import type { Preconditions } from './preconditions.ts';

/**
 * A fact as the boundary gathered it. A gate must say what it does in each state: `unavailable` (the source failed or is stale
 * beyond use) always denies with the gate's own code; `not_applicable` means that this call has nothing the gate judges.
 */
export type Fact<Value> =
  { state: 'known'; value: Value } | { state: 'not_applicable' } | { state: 'unavailable'; detail: string };

/** The fault of the call, in words for its caller; `null` when there is none. */
type RequestFact = { fault: string | null };

/** A fence in force around the call. Any kind but a throttle stops it, unknown kinds too. */
export type FenceInForce = {
  scope: string;
  level: 'system' | 'org' | 'tenant' | 'agent' | 'tool' | 'server';
  kind: string;
  epoch: number;
  reason: string;
  /** For a throttle: the calls left in its window before this call. */
  calls_remaining: number | null;
};

/** `known` with value null: no bundle is active for the tenant. */
export type PolicyFact = {
  hash: string;
  epoch: number;
  /** A trusted policy key signed hash, epoch and time. */
  signature_valid: boolean;
  /** No newer statement about the tenant's policy is known. */
  is_newest: boolean;
  /** A rule in which the bundle differs from the ceilings that are in force for the tenant; null: it holds them. */
  missing_ceiling: string | null;
  /** Milliseconds since the time that was signed; below zero: that time has not come. */
  age_ms: number;
  age_max_ms: number;
} | null;

/** Who is taken to call, and what showed it. The key of the operators claims a principal; every other credential proves one. */
export type IdentityFact = RecordedIdentity;

/** `relations` is what the rules see, by the names of the bundle; one that could not be asked for is absent. `required` must hold. */
export type RelationshipFact = {
  snapshot_hash: string;
  /** Milliseconds since its source last said that it holds; below zero: that time has not come. */
  age_ms: number;
  age_max_ms: number;
  relations: Readonly<Record<string, boolean>>;
  required: readonly string[];
};

export type RegistryFact = {
  server_id: string;
  state: 'discovered' | 'quarantined' | 'approved' | 'revoked' | 'expired';
  /** null: the server does not list the tool. */
  tool: {
    pinned_hash: string | null;
    /** Hash of the definition that the live server shows now. */
    current_hash: string;
    input_schema: Record<string, unknown>;
  } | null;
};

/** Has the kernel received the settings of the workspace that the call is made in? */
type SettingsFact = { received: boolean };

type ScopesFact = { required: string[]; granted: string[] };

/** `has_expired`: the grant holds no more. It is named all the same. */
type SandboxFact = { grant_hash: string | null; has_expired?: boolean; required: boolean; overgrants: string[] };

type EgressFact = { destination: string; allowed: boolean; detail: string };

type ProvenanceFact = { through_boundary: boolean };

/** One ceiling that applies to the call, with what is left of it at the moment of the decision. `null`: this ceiling is not set. */
export type BudgetFact = {
  budget_id: string;
  tool_calls_remaining: number | null;
  spend_remaining_micros: bigint | null;
  egress_remaining_bytes: number | null;
  writes_remaining: number | null;
  approval_required_above_minor: number | null;
  currency: string | null;
};

/**
 * The demand of this call on its budgets. Money is exact: millionths of a minor unit. `null` when the maximum cost is
 * unknown.
 */
export type Demand = { tool_calls: number; spend_micros: bigint | null; egress_bytes: number; writes: number };

/** Does the workspace block the tool of this call? */
type BlockFact = { tool_blocked: boolean };

/** The approval that the caller presented or that stands for this intent; null: none. */
export type ApprovalFact = {
  approval_id: string;
  state: 'pending' | 'approved' | 'denied' | 'expired' | 'revoked';
  intent_hash: string;
  judged_hash: string;
  policy_hash: string | null;
  /** The conditions that must still hold. */
  preconditions: Preconditions;
  /** Who approved, each once and never the requester. */
  approved_by: string[];
  /** The person who approved it alone in place of all voters that the asks require; `null` when there is none. */
  broken_by: string | null;
  /** How often it may be used, as it was asked for. */
  scope: string;
  /** Seconds from the question to its expiry. */
  timeout: number;
  /** Seconds that it has to wait after the last vote. */
  timelock: number;
  /** Until when it waits; null: it waits no more. */
  locked_until: string | null;
  /** Uses left of its scope. */
  uses_remaining: number;
  expired: boolean;
  /** The reason of its denial or withdrawal. */
  rejection_reason: string | null;
} | null;

/** Everything decide() may look at. One frozen object per decision. */
export type Facts = {
  /** RFC 3339 with milliseconds. */
  now: string;
  request: Fact<RequestFact>;
  fence: Fact<FenceInForce[]>;
  /** `not_applicable` in a tenant that is no workspace. */
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
  /** The currency of the price table that priced this call. Absent when no table did, or its currency is not configured. */
  priced_in?: string;
  /** The hash of the intent, its effect, the demand and the members that the policy reads: an approval binds it. */
  judged_hash: string;
  approval: Fact<ApprovalFact>;
};
