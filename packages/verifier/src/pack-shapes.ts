import { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Builder, Schema } from './canonical-reader.ts';

/**
 * Builds the largest objects of a line from their members, which are in canonical order. V8 keeps an object with the
 * members of one literal in a compact form. Added one by one under computed names, they become a hash table. The reader
 * checks the numbers when it is compiled.
 */
export const packBuilders: ReadonlyMap<Schema, Builder> = new Map<Schema, Builder>([
  [ReceiptPayload, buildPayload],
  [BoundaryRecord, buildRecord],
]);

function buildPayload(items: readonly unknown[]): Record<string, unknown> {
  const value: Record<string, unknown> = {
    action: items[0],
    args_hash: items[2],
    decision_id: items[3],
    effect_level: items[5],
    issued_at: items[6],
    kind: items[7],
    lamport_clock: items[8],
    policy_epoch: items[11],
    policy_hash: items[12],
    prev_hash: items[13],
    principal_id: items[14],
    reason_code: items[15],
    receipt_id: items[16],
    record_hash: items[17],
    resource: items[18],
    session_id: items[19],
    shadow: items[20],
    tenant_id: items[22],
    tool: items[23],
    type: items[24],
    verdict: items[25],
  };
  if (items[1] !== undefined) value['approval_id'] = items[1];
  if (items[4] !== undefined) value['decision_receipt_id'] = items[4];
  if (items[9] !== undefined) value['outcome'] = items[9];
  if (items[10] !== undefined) value['output_hash'] = items[10];
  if (items[21] !== undefined) value['spend_micros'] = items[21];
  return value;
}

function buildRecord(items: readonly unknown[]): Record<string, unknown> {
  const value: Record<string, unknown> = {
    approval_id: items[0],
    authz_snapshot_hash: items[1],
    budgets: items[2],
    created_at: items[3],
    decision_id: items[4],
    gate_roster_hash: items[8],
    gates: items[9],
    intent: items[11],
    kind: items[13],
    matched_rules: items[14],
    mcp_server_id: items[15],
    policy_epoch: items[16],
    policy_hash: items[17],
    principal_id: items[18],
    reason_code: items[19],
    receipt_id: items[20],
    record_hash: items[21],
    record_id: items[22],
    sandbox_grant_hash: items[23],
    session_id: items[24],
    shadow: items[25],
    tenant_id: items[26],
    tool_definition_hash: items[28],
    type: items[29],
    verdict: items[30],
  };
  if (items[5] !== undefined) value['demand'] = items[5];
  if (items[6] !== undefined) value['dispatched_by'] = items[6];
  if (items[7] !== undefined) value['fences'] = items[7];
  if (items[10] !== undefined) value['identity'] = items[10];
  if (items[12] !== undefined) value['judged_hash'] = items[12];
  if (items[27] !== undefined) value['tool_blocked'] = items[27];
  return value;
}
