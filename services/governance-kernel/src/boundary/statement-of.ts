import type { ApprovalId, Digest, Instant } from '@countersign/contracts';
import type { Decision, Fact, Facts, RegistryFact } from '@countersign/policy';
import { decisionStatement, type Statement } from '@countersign/receipts';
import type { RecordedFence, ShadowVerdict } from '@countersign/contracts/governance-kernel';
import type { BudgetRow } from '../budgets/budget-row.ts';
import { remainderOf } from '../budgets/reserve.ts';
import type { FenceRow } from '../fences/fence-row.ts';
import { fenceFact } from '../fences/in-force.ts';
import { tenantOf } from '../fences/scopes.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { KnownCall } from './known-call.ts';

type Judged = KnownCall & { ulid: string; now: Instant; policy: LoadedPolicy | null };

type Said = {
  decision: Decision;
  rosterHash: Digest;
  fences: readonly FenceRow[];
  /** Before the decision took anything. */
  budgets: readonly BudgetRow[];
  facts: Pick<Facts, 'block' | 'identity' | 'sandbox'>;
  approvalId: ApprovalId | null;
  shadow: readonly ShadowVerdict[];
};

/** The statement of a decision, in the words of the record. */
export function statementOf(judgedCall: Judged, said: Said): Statement {
  const { call, judged, policy } = judgedCall;
  const { decision } = said;
  const tool = knownTool(judgedCall.learned);
  return decisionStatement({
    ulid: judgedCall.ulid,
    at: judgedCall.now,
    tenant: call.caller.tenant,
    principal: call.caller.principal,
    session: call.session,
    intent: judgedCall.intent,
    read: judged.read,
    verdict: decision.verdict,
    reason_code: decision.reason_code,
    gates: decision.trace,
    gate_roster_hash: said.rosterHash,
    matched_rules: decision.matched_rules,
    policy_hash: policy?.hash ?? null,
    policy_epoch: policy?.epoch ?? 0,
    mcp_server_id: tool.server,
    tool_definition_hash: tool.hash,
    authz_snapshot_hash: judgedCall.held.kind === 'read' ? judgedCall.held.hash : null,
    budgets: said.budgets.map(remainderOf),
    demand: judged.recorded,
    judged_hash: judged.hash,
    fences: said.fences.length === 0 ? undefined : said.fences.map(recordedFence),
    identity: said.facts.identity.state === 'known' ? said.facts.identity.value : undefined,
    sandbox_grant_hash: grantHashOf(said.facts),
    tool_blocked: isBlocked(said.facts) ? true : undefined,
    approval_id: said.approvalId,
    dispatched_by: judgedCall.dispatchedBy,
    shadow: [...said.shadow],
    isShadow: judgedCall.asker.mode === 'shadow',
  });
}

/** The remainder of a throttle around several tenants would show each of them the usage of the others. */
function recordedFence(fence: FenceRow): RecordedFence {
  const { kind, epoch, calls_remaining: left } = fenceFact(fence);
  return { scope: fence.scope, kind, epoch, calls_remaining: tenantOf(fence.scope) === null ? null : left };
}

function grantHashOf({ sandbox }: Pick<Facts, 'sandbox'>): Digest | null {
  return sandbox.state === 'known' ? (sandbox.value.grant_hash as Digest | null) : null; // the kernel hashes with digestOf
}

function isBlocked({ block }: Pick<Facts, 'block'>): boolean {
  return block.state === 'known' && block.value.tool_blocked;
}

function knownTool(fact: Fact<RegistryFact>): { server: string | null; hash: Digest | null } {
  if (fact.state !== 'known') return { server: null, hash: null };
  return { server: fact.value.server_id, hash: (fact.value.tool?.current_hash ?? null) as Digest | null }; // the registry hashes with digestOf
}
