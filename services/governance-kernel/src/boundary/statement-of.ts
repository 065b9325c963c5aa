import type { ApprovalId, BudgetId, DecisionId, Digest, Instant, ReceiptId, RecordId } from '@countersign/contracts';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { Decision, Fact, RegistryFact } from '@countersign/policy';
import type { Statement } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { GovernedCall } from './governed-call.ts';
import type { SealedIntent } from './normalise.ts';

export type Judged = {
  ulid: string;
  at: Instant;
  call: GovernedCall;
  intent: SealedIntent;
  policy: LoadedPolicy | null;
  decision: Decision;
  readFacts: BoundaryRecord['intent']['facts'];
  rosterHash: Digest;
  budgetIds: BudgetId[];
  approvalId: ApprovalId | null;
};

/** Ids of one decision share a ULID, so each leads to the others. */
export const receiptIdOf = (ulid: string) => `rcp_${ulid}` as ReceiptId;
export const recordIdOf = (ulid: string) => `rec_${ulid}` as RecordId;
export const decisionIdOf = (ulid: string) => `dec_${ulid}` as DecisionId;

/** What a decision states: the boundary record of everything it was made from, and the receipt over it. */
export function statementOf(judged: Judged): Statement {
  return { ulid: judged.ulid, receipt: receiptMembers(judged), record: recordMembers(judged) };
}

// Both are written out, and in canonical order: each decision makes them, and spreading parts together costs more than deciding.

function receiptMembers(judged: Judged): Statement['receipt'] {
  const { ulid, call, intent, decision, policy } = judged;
  const receipt: Statement['receipt'] = {
    action: intent.action,
    args_hash: intent.args_hash,
    decision_id: decisionIdOf(ulid),
    effect_level: intent.effect_level,
    issued_at: judged.at,
    kind: 'decision',
    policy_epoch: policy?.epoch ?? 0,
    policy_hash: policy?.hash ?? null,
    principal_id: call.caller.principal,
    reason_code: decision.reason_code,
    receipt_id: receiptIdOf(ulid),
    resource: intent.resource,
    session_id: call.session,
    shadow: call.mode === 'shadow',
    tenant_id: call.caller.tenant,
    tool: intent.tool,
    verdict: decision.verdict,
  };
  return judged.approvalId === null ? receipt : { ...receipt, approval_id: judged.approvalId };
}

function recordMembers(judged: Judged): Omit<BoundaryRecord, 'record_hash'> {
  const { ulid, call, decision, policy } = judged;
  const tool = knownTool(call.facts?.registry);
  return {
    approval_id: judged.approvalId,
    authz_snapshot_hash: null,
    budget_ids: judged.budgetIds,
    created_at: judged.at,
    decision_id: decisionIdOf(ulid),
    dispatched_by: call.dispatchedBy,
    gate_roster_hash: judged.rosterHash,
    gates: decision.trace,
    intent: recordedIntent(judged),
    kind: 'decision',
    matched_rules: decision.matched_rules,
    mcp_server_id: tool.server,
    policy_epoch: policy?.epoch ?? 0,
    policy_hash: policy?.hash ?? null,
    principal_id: call.caller.principal,
    reason_code: decision.reason_code,
    receipt_id: receiptIdOf(ulid),
    record_id: recordIdOf(ulid),
    sandbox_grant_hash: null,
    session_id: call.session,
    shadow: [],
    tenant_id: call.caller.tenant,
    tool_definition_hash: tool.hash,
    type: 'countersign.record.v1',
    verdict: decision.verdict,
  };
}

function recordedIntent({ intent, readFacts }: Judged): BoundaryRecord['intent'] {
  return {
    action: intent.action,
    args_hash: intent.args_hash,
    effect_level: intent.effect_level,
    facts: readFacts,
    intent_hash: intent.intent_hash,
    resource: intent.resource,
    tool: intent.tool,
  };
}

function knownTool(fact: Fact<RegistryFact> | undefined): { server: string | null; hash: Digest | null } {
  if (fact?.state !== 'known') return { server: null, hash: null };
  return { server: fact.value.server_id, hash: (fact.value.tool?.current_hash ?? null) as Digest | null }; // the registry hashes with digestOf
}
