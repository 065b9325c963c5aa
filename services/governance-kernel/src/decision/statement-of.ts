import type { ApprovalId, Digest, Instant } from '@countersign/contracts';
import type { Decision, Fact, Facts, RegistryFact } from '@countersign/policy';
import { decisionStatement, type Statement } from '@countersign/receipts';
import type { RecordedFence, ShadowVerdict } from '@countersign/contracts/governance-kernel';
import type { BudgetRow } from '../controls/budgets/budget-row.ts';
import { remainderOf } from '../controls/budgets/reserve.ts';
import type { FenceRow } from '../controls/fences/fence-row.ts';
import { fenceFact } from '../controls/fences/in-force.ts';
import { tenantOf } from '../controls/fences/scopes.ts';
import type { LoadedPolicy } from '../controls/policy/loaded-policy.ts';
import type { KnownCall } from './known-call.ts';

type Judged = KnownCall & { ulid: string; now: Instant; policy: LoadedPolicy | null };

type Outcome = {
  decision: Decision;
  rosterHash: Digest;
  fences: readonly FenceRow[];
  /** The budgets before the decision consumed anything. */
  budgets: readonly BudgetRow[];
  facts: Pick<Facts, 'block' | 'identity' | 'sandbox'>;
  approvalId: ApprovalId | null;
  shadow: readonly ShadowVerdict[];
};

/** The statement of a decision, in the form of the record. */
export function statementOf(prepared: Judged, outcome: Outcome): Statement {
  const { call, judged, policy } = prepared;
  const { decision } = outcome;
  const tool = knownTool(prepared.learned);
  return decisionStatement({
    ulid: prepared.ulid,
    at: prepared.now,
    tenant: call.caller.tenant,
    principal: call.caller.principal,
    session: call.session,
    intent: prepared.intent,
    read: judged.read,
    verdict: decision.verdict,
    reason_code: decision.reason_code,
    gates: decision.trace,
    gate_roster_hash: outcome.rosterHash,
    matched_rules: decision.matched_rules,
    policy_hash: policy?.hash ?? null,
    policy_epoch: policy?.epoch ?? 0,
    mcp_server_id: tool.server,
    tool_definition_hash: tool.hash,
    authz_snapshot_hash: prepared.relations.kind === 'read' ? prepared.relations.hash : null,
    budgets: outcome.budgets.map(remainderOf),
    demand: judged.recorded,
    judged_hash: judged.hash,
    fences: outcome.fences.length === 0 ? undefined : outcome.fences.map(recordedFence),
    identity: outcome.facts.identity.state === 'known' ? outcome.facts.identity.value : undefined,
    sandbox_grant_hash: grantHashOf(outcome.facts),
    tool_blocked: isBlocked(outcome.facts) ? true : undefined,
    approval_id: outcome.approvalId,
    dispatched_by: prepared.dispatchedBy,
    shadow: [...outcome.shadow],
    isShadow: prepared.asker.mode === 'shadow',
  });
}

/** Omits the remainder of a throttle for several tenants, since it would reveal the usage of the others. */
function recordedFence(fence: FenceRow): RecordedFence {
  const { kind, epoch, calls_remaining: remaining } = fenceFact(fence);
  return { scope: fence.scope, kind, epoch, calls_remaining: tenantOf(fence.scope) === null ? null : remaining };
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
