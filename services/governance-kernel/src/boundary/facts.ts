import type { ApprovalFact, Facts, Fact, FenceFact, PolicyFact } from '@countersign/policy';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { budgetApplies, budgetFact } from '../budgets/reserve.ts';
import { rollWindow } from '../budgets/window.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { demandOf } from './demand.ts';
import type { GovernedCall } from './governed-call.ts';
import type { SealedIntent } from './normalise.ts';

export type Gathered = { facts: Facts; budgets: BudgetRow[]; approval: ApprovalRow | null };

type Situation = {
  call: GovernedCall;
  intent: SealedIntent;
  policy: LoadedPolicy | null;
  policyAgeMaxMs: number;
  nowMs: number;
};

const notApplicable = { state: 'not_applicable' } as const;

/** Step 3 of the cycle: everything the decision looks at, in one object, read under the locks of the deciding transaction. */
export function gatherFacts(batch: LedgerBatch, situation: Situation): Gathered {
  const { call, intent, nowMs } = situation;
  const budgets = batch
    .budgets(intent.tenant as GovernedCall['caller']['tenant'])
    .filter((budget) => budgetApplies(budget, intent));
  for (const budget of budgets) {
    if (rollWindow(budget, nowMs)) batch.changedBudgets.add(budget);
  }
  const { fact, approval } = approvalFact(batch, situation);
  const facts: Facts = {
    now: new Date(nowMs).toISOString(),
    fence: { state: 'known', value: fenceFact(batch, call) },
    policy: { state: 'known', value: policyFact(batch, situation) },
    identity: { state: 'known', value: call.caller.identity },
    relationship: notApplicable,
    registry: call.facts?.registry ?? notApplicable,
    scopes: call.facts?.scopes ?? notApplicable,
    sandbox: call.facts?.sandbox ?? notApplicable,
    egress: call.facts?.egress ?? notApplicable,
    provenance: call.facts?.provenance ?? { state: 'known', value: { through_boundary: true } },
    budgets: { state: 'known', value: budgets.map(budgetFact) },
    demand: demandOf(call),
    approval: fact,
  };
  return { facts: Object.freeze(facts), budgets, approval };
}

/** The scopes of fences that could stop this caller. */
export function fenceScopes({ tenant, principal }: GovernedCall['caller']): string[] {
  return ['system', `tenant:${tenant}`, `agent:${tenant}:${principal}`];
}

function fenceFact(batch: LedgerBatch, { caller }: GovernedCall): FenceFact {
  const [system, tenant, agent] = fenceScopes(caller).map((scope) => batch.fence(scope));
  return {
    frozen: system === 'freeze' || tenant === 'freeze' || agent === 'freeze',
    tenant_quarantined: tenant === 'quarantine',
    agent_quarantined: agent === 'quarantine',
    throttled: [system, tenant, agent].includes('throttle'),
  };
}

function policyFact(batch: LedgerBatch, { intent, policy, policyAgeMaxMs, nowMs }: Situation): PolicyFact {
  const head = batch.policy(intent.tenant as GovernedCall['caller']['tenant']); // the intent took it from the caller
  if (head === null || policy === null) return null;
  return {
    hash: head.hash,
    epoch: head.epoch,
    signature_valid: policy.signatureValid,
    age_ms: Math.max(0, nowMs - head.confirmedAtMs),
    age_max_ms: policyAgeMaxMs,
  };
}

/** The approval that was presented, or the one that stands for exactly this call under this policy. */
function approvalFact(
  batch: LedgerBatch,
  { call, intent, policy, nowMs }: Situation,
): { fact: Fact<ApprovalFact>; approval: ApprovalRow | null } {
  const { tenant } = call.caller;
  if (call.approvalGrant !== undefined) {
    const presented = batch.approval(tenant, call.approvalGrant);
    return {
      fact: { state: 'known', value: presented === null ? unknownGrant(call.approvalGrant) : factOf(presented, nowMs) },
      approval: presented,
    };
  }
  const standing = batch
    .approvalsFor(tenant, intent.intent_hash)
    .filter((row) => nowMs < row.expiresAtMs && row.policyHash === (policy?.hash ?? null));
  const approval =
    standing.find((row) => row.state === 'approved') ?? standing.find((row) => row.state === 'pending') ?? null;
  return { fact: { state: 'known', value: approval === null ? null : factOf(approval, nowMs) }, approval };
}

function factOf(row: ApprovalRow, nowMs: number): NonNullable<ApprovalFact> {
  return {
    approval_id: row.id,
    state: row.state === 'consumed' ? 'approved' : row.state,
    intent_hash: row.intentHash,
    policy_hash: row.policyHash,
    uses_remaining: row.usesRemaining,
    expired: nowMs >= row.expiresAtMs,
  };
}

/** A grant that does not exist, or is another tenant's, fits no call. */
function unknownGrant(approvalId: string): NonNullable<ApprovalFact> {
  return {
    approval_id: approvalId,
    state: 'approved',
    intent_hash: '',
    policy_hash: null,
    uses_remaining: 0,
    expired: false,
  };
}
