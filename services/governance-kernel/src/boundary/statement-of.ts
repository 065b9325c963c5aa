import type { ApprovalId, BudgetId, Digest, Instant } from '@countersign/contracts';
import type { RecordedIntent } from '@countersign/contracts/governance-kernel';
import type { Decision, Fact, Facts, RegistryFact } from '@countersign/policy';
import { decisionStatement, type Statement } from '@countersign/receipts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { KnownCall } from './known-call.ts';

type Judged = KnownCall & {
  ulid: string;
  at: Instant;
  policy: LoadedPolicy | null;
  decision: Decision;
  readFacts: RecordedIntent['facts'];
  rosterHash: Digest;
  budgetIds: BudgetId[];
  facts: Pick<Facts, 'demand' | 'block'>;
  approvalId: ApprovalId | null;
};

/** What a decision states, in the words of the record. */
export function statementOf(judged: Judged): Statement {
  const { call, decision, policy } = judged;
  const tool = knownTool(judged.learned);
  return decisionStatement({
    ulid: judged.ulid,
    at: judged.at,
    tenant: call.caller.tenant,
    principal: call.caller.principal,
    session: call.session,
    intent: judged.intent,
    facts: judged.readFacts,
    verdict: decision.verdict,
    reason_code: decision.reason_code,
    gates: decision.trace,
    gate_roster_hash: judged.rosterHash,
    matched_rules: decision.matched_rules,
    policy_hash: policy?.hash ?? null,
    policy_epoch: policy?.epoch ?? 0,
    mcp_server_id: tool.server,
    tool_definition_hash: tool.hash,
    budget_ids: judged.budgetIds,
    spend_micros: spendOf(judged.facts),
    tool_blocked: isBlocked(judged.facts) ? true : undefined,
    approval_id: judged.approvalId,
    dispatched_by: judged.dispatchedBy,
    shadow: judged.asker.mode === 'shadow',
  });
}

/** A call without money states none; so does one whose price nobody knows. */
function spendOf({ demand: { spend_micros } }: Pick<Facts, 'demand'>): string | undefined {
  return spend_micros === null || spend_micros === 0n ? undefined : String(spend_micros);
}

function isBlocked({ block }: Pick<Facts, 'block'>): boolean {
  return block.state === 'known' && block.value.tool_blocked;
}

function knownTool(fact: Fact<RegistryFact>): { server: string | null; hash: Digest | null } {
  if (fact.state !== 'known') return { server: null, hash: null };
  return { server: fact.value.server_id, hash: (fact.value.tool?.current_hash ?? null) as Digest | null }; // the registry hashes with digestOf
}
