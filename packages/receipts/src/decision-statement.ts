import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { BoundaryRecord, Demand, RecordedIntent } from '@countersign/contracts/governance-kernel';
import type { RecordedFacts } from './capped-facts.ts';
import { decisionIdOf, receiptIdOf, recordIdOf } from './ids.ts';
import { receiptOf } from './receipt-of.ts';
import type { RecordMembers } from './record-text.ts';
import type { Statement } from './statement.ts';

/** A decision with all its inputs. Members in snake case are copied unchanged. */
type Decided = Pick<
  BoundaryRecord,
  | 'approval_id'
  | 'authz_snapshot_hash'
  | 'budgets'
  | 'fences'
  | 'gate_roster_hash'
  | 'gates'
  | 'identity'
  | 'matched_rules'
  | 'mcp_server_id'
  | 'policy_epoch'
  | 'policy_hash'
  | 'reason_code'
  | 'sandbox_grant_hash'
  | 'shadow'
  | 'tool_blocked'
  | 'tool_definition_hash'
  | 'verdict'
> & {
  ulid: string;
  demand: Demand;
  dispatched_by: NonNullable<BoundaryRecord['dispatched_by']>;
  judged_hash: Digest;
  at: Instant;
  tenant: TenantId;
  principal: PrincipalId;
  session: SessionId;
  intent: Omit<RecordedIntent, keyof RecordedFacts>;
  /** The facts of the call that the policy read. */
  read: RecordedFacts;
  /** True when the call only requested a preview. The decision then has no effect. */
  isShadow: boolean;
};

/** The statement of a decision: the boundary record of all its inputs, and the receipt over it. */
export function decisionStatement(decided: Decided): Statement {
  const record = recordOf(decided);
  return { ulid: decided.ulid, receipt: receiptOf(record, { shadow: decided.isShadow }), record };
}

// Lists all members, because spreading objects for each decision would cost more than the decision.
function recordOf(decided: Decided): RecordMembers {
  const record: RecordMembers = {
    approval_id: decided.approval_id,
    authz_snapshot_hash: decided.authz_snapshot_hash,
    budgets: decided.budgets,
    created_at: decided.at,
    decision_id: decisionIdOf(decided.ulid),
    demand: decided.demand,
    dispatched_by: decided.dispatched_by,
    gate_roster_hash: decided.gate_roster_hash,
    gates: decided.gates,
    intent: recordedIntent(decided),
    judged_hash: decided.judged_hash,
    kind: 'decision',
    matched_rules: decided.matched_rules,
    mcp_server_id: decided.mcp_server_id,
    policy_epoch: decided.policy_epoch,
    policy_hash: decided.policy_hash,
    principal_id: decided.principal,
    reason_code: decided.reason_code,
    receipt_id: receiptIdOf(decided.ulid),
    record_id: recordIdOf(decided.ulid),
    sandbox_grant_hash: decided.sandbox_grant_hash,
    session_id: decided.session,
    shadow: decided.shadow,
    tenant_id: decided.tenant,
    tool_definition_hash: decided.tool_definition_hash,
    type: 'countersign.record.v1',
    verdict: decided.verdict,
  };
  if (decided.fences !== undefined) record.fences = decided.fences;
  if (decided.identity !== undefined) record.identity = decided.identity;
  if (decided.tool_blocked !== undefined) record.tool_blocked = decided.tool_blocked;
  return record;
}

function recordedIntent({ intent, read: { facts, capped_facts } }: Decided): RecordedIntent {
  const recorded: RecordedIntent = {
    action: intent.action,
    args_hash: intent.args_hash,
    effect_level: intent.effect_level,
    facts,
    intent_hash: intent.intent_hash,
    resource: intent.resource,
    tool: intent.tool,
  };
  if (capped_facts !== undefined) recorded.capped_facts = capped_facts;
  return recorded;
}
