import type { ApprovalFact, Facts, FenceFact, PolicyFact } from '@countersign/policy';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { lifetimeSeconds } from '../approvals/scope.ts';
import { budgetApplies, budgetFact } from '../budgets/reserve.ts';
import { rollWindow } from '../budgets/window.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { demandOf } from './demand.ts';
import type { GovernedCall } from './governed-call.ts';
import type { SealedIntent } from './normalise.ts';
import { registryFact } from './registry-fact.ts';

export type Gathered = {
  facts: Facts;
  budgets: BudgetRow[];
  /** The approval that the decision judged. */
  approval: ApprovalRow | null;
  /** Questions about this very call that nobody has answered yet, newest first. */
  open: ApprovalRow[];
};

type Situation = {
  call: GovernedCall;
  intent: SealedIntent;
  policy: LoadedPolicy | null;
  policyAgeMaxMs: number;
  nowMs: number;
  now: string;
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
  const standing = standingApprovals(batch, situation);
  const approval = approvalOf(batch, situation, standing);
  const facts: Facts = {
    now: situation.now,
    fence: { state: 'known', value: fenceFact(batch, call) },
    policy: { state: 'known', value: policyFact(batch, situation) },
    identity: { state: 'known', value: call.caller.identity },
    relationship: notApplicable,
    registry: registryFact(batch, call),
    scopes: call.facts?.scopes ?? notApplicable,
    sandbox: call.facts?.sandbox ?? notApplicable,
    egress: call.facts?.egress ?? notApplicable,
    provenance: call.facts?.provenance ?? { state: 'known', value: { through_boundary: true } },
    budgets: { state: 'known', value: budgets.map(budgetFact) },
    demand: demandOf(call),
    approval: { state: 'known', value: approvalFact(situation, approval) },
  };
  const open = standing.filter(({ state }) => state === 'pending');
  return { facts: Object.freeze(facts), budgets, approval, open };
}

/** The scopes of fences that could stop this caller. */
export function fenceScopes({ tenant, principal }: GovernedCall['caller']): string[] {
  return ['system', `tenant:${tenant}`, `agent:${tenant}:${principal}`];
}

function fenceFact(batch: LedgerBatch, { caller }: GovernedCall): FenceFact {
  const [system, tenant, agent] = fenceScopes(caller).map((scope) => batch.fence(scope));
  return {
    // A fence that nobody knows how to read stops everything rather than nothing.
    frozen:
      [system, tenant, agent].some((kind) => kind === 'freeze' || isUnknownFence(kind)) || system === 'quarantine',
    tenant_quarantined: tenant === 'quarantine',
    agent_quarantined: agent === 'quarantine',
    throttled: [system, tenant, agent].includes('throttle'),
  };
}

const knownFences = new Set(['freeze', 'quarantine', 'throttle']);

function isUnknownFence(kind: string | null | undefined): boolean {
  return typeof kind === 'string' && !knownFences.has(kind);
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

/** Approvals that could count for exactly this call under this policy, newest first: a later one answers a stronger question. */
function standingApprovals(batch: LedgerBatch, { call, intent, policy, nowMs }: Situation): ApprovalRow[] {
  return batch
    .approvalsFor(call.caller.tenant, intent.intent_hash)
    .filter((row) => nowMs < row.expiresAtMs && row.policyHash === (policy?.hash ?? null) && covers(row, intent))
    .sort((left, right) => (left.id < right.id ? 1 : -1));
}

/** The approval that was presented, else the one that stands for this call. */
function approvalOf(batch: LedgerBatch, { call }: Situation, standing: ApprovalRow[]): ApprovalRow | null {
  if (call.approvalGrant !== undefined) return batch.approval(call.caller.tenant, call.approvalGrant);
  return (
    standing.find(({ state }) => state === 'approved') ?? standing.find(({ state }) => state === 'pending') ?? null
  );
}

function approvalFact({ call, intent, nowMs }: Situation, approval: ApprovalRow | null): ApprovalFact {
  if (approval !== null) return factOf(approval, covers(approval, intent) ? approval.intentHash : '', nowMs);
  return call.approvalGrant === undefined ? null : unknownGrant(call.approvalGrant);
}

/** The effect is not part of the intent's hash: an approval of a graver call covers the milder one, and never the reverse. */
function covers({ effectLevel }: ApprovalRow, { effect_level }: SealedIntent): boolean {
  return effect_level <= effectLevel; // E0 to E4 sort by gravity
}

function factOf(row: ApprovalRow, intentHash: string, nowMs: number): NonNullable<ApprovalFact> {
  return {
    approval_id: row.id,
    state: row.state === 'consumed' ? 'approved' : row.state,
    intent_hash: intentHash,
    policy_hash: row.policyHash,
    approved_by: row.approvedBy,
    scope: row.scope,
    timeout: lifetimeSeconds(row),
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
    approved_by: [],
    scope: 'once',
    timeout: 0,
    uses_remaining: 0,
    expired: false,
  };
}
