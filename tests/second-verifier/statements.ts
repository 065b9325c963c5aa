import type { JsonObject } from './strict-json.ts';

// Values have these types once their schemas were checked (1.7).

export type Signature = { alg: string; key_id: string; value: string };

export type Payload = JsonObject & {
  action: string;
  decision_id: string;
  issued_at: string;
  kind: string;
  lamport_clock: number;
  policy_epoch: number;
  policy_hash: string | null;
  prev_hash: string | null;
  principal_id: string;
  reason_code: string;
  receipt_id: string;
  session_id: string;
  shadow: boolean;
  tenant_id: string;
  tool: string | null;
  verdict: string;
};

export type Receipt = { payload: Payload; signature: Signature };

export type Intent = JsonObject & {
  action: string;
  args_hash: string;
  effect_level: string;
  facts: JsonObject;
  intent_hash: string;
  resource: string | null;
  tool: string | null;
};

export type Gate = JsonObject & { gate: string; outcome: string; reason_code: string | null };

export type Trial = JsonObject & {
  fault: string | null;
  lane: string;
  matched_rules: string[];
  reason_code: string | null;
  rules_omitted: number;
  verdict: string | null;
};

/** A `BoundaryRecord`. */
export type Sealed = JsonObject & {
  approval_id: string | null;
  created_at: string;
  decision_id: string;
  dispatched_by: string;
  gate_roster_hash: string;
  gates: Gate[];
  intent: Intent;
  kind: string;
  matched_rules: string[];
  policy_epoch: number;
  policy_hash: string | null;
  principal_id: string;
  reason_code: string;
  receipt_id: string;
  record_hash: string;
  record_id: string;
  session_id: string;
  shadow: Trial[];
  tenant_id: string;
  tool_definition_hash: string | null;
  verdict: string;
};

export type Proof = { log_index: number; tree_size: number; hashes: string[] };

export type Entry = { receipt: Receipt; record?: Sealed; proof?: Proof };

export type Policy = {
  bundle: JsonObject;
  confirmed_at: string;
  epoch: number;
  policy_hash: string;
  signature: Signature;
  tenant_id: string;
};

export type Scope = JsonObject & {
  tenant_id: string;
  leaves: { from: number; to: number };
  sessions: string[] | null;
  issued: { from: string; to: string } | null;
};
