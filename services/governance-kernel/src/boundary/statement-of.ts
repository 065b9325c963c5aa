import type { ApprovalId, BudgetId, DecisionId, Digest, Instant, ReceiptId, RecordId } from '@countersign/contracts';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
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
  const { call, intent, decision, policy } = judged;
  // Zod's brands were given where the call was parsed; the intent only carries the same values on.
  const common = {
    kind: 'decision' as const,
    decision_id: decisionIdOf(judged.ulid),
    receipt_id: receiptIdOf(judged.ulid),
    tenant_id: call.caller.tenant,
    principal_id: call.caller.principal,
    session_id: call.session,
    verdict: decision.verdict,
    reason_code: decision.reason_code,
    policy_hash: policy?.hash ?? null,
    policy_epoch: policy?.epoch ?? 0,
  };
  const named = {
    action: intent.action,
    tool: intent.tool,
    resource: intent.resource,
    effect_level: intent.effect_level,
    args_hash: intent.args_hash,
  };
  const receipt: Omit<ReceiptPayload, 'type' | 'lamport_clock' | 'prev_hash' | 'record_hash'> = {
    ...common,
    ...named,
    ...(judged.approvalId === null ? {} : { approval_id: judged.approvalId }),
    shadow: call.mode === 'shadow',
    issued_at: judged.at,
  };
  return {
    ulid: judged.ulid,
    receipt,
    record: {
      ...common,
      ...recordMembers(judged),
      intent: { ...named, intent_hash: intent.intent_hash, facts: judged.readFacts },
    },
  };
}

function recordMembers({ ulid, at, call, decision, rosterHash, budgetIds, approvalId }: Judged) {
  const tool = knownTool(call.facts?.registry);
  return {
    type: 'countersign.record.v1' as const,
    record_id: recordIdOf(ulid),
    gates: decision.trace,
    gate_roster_hash: rosterHash,
    matched_rules: decision.matched_rules,
    authz_snapshot_hash: null,
    sandbox_grant_hash: null,
    tool_definition_hash: tool.hash,
    mcp_server_id: tool.server,
    budget_ids: budgetIds,
    approval_id: approvalId,
    shadow: [],
    created_at: at,
  };
}

function knownTool(fact: Fact<RegistryFact> | undefined): { server: string | null; hash: Digest | null } {
  if (fact?.state !== 'known') return { server: null, hash: null };
  return { server: fact.value.server_id, hash: (fact.value.tool?.current_hash ?? null) as Digest | null }; // the registry hashes with digestOf
}
