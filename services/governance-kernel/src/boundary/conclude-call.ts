import type { ApprovalId, BudgetId, Digest, Instant } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { AppError } from '@countersign/contracts';
import { decide, readFacts, type Decision, type Facts, type Intent, type RuleEvaluator } from '@countersign/policy';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { pendingApproval, useApproval, wantsNoLess } from '../approvals/pending.ts';
import { reserve, spend } from '../budgets/reserve.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { gatherFacts, type Gathered } from './facts.ts';
import type { GovernedCall } from './governed-call.ts';
import type { SealedIntent } from './normalise.ts';
import { writeReply } from './reply.ts';
import { statementOf } from './statement-of.ts';

export type Prepared = {
  ulid: string;
  nowMs: number;
  /** The same moment, as it is written. */
  now: Instant;
  call: GovernedCall;
  intent: SealedIntent;
  policy: LoadedPolicy | null;
  /** The rules' answer, or why there is none; found before the locks were taken. */
  evaluate: RuleEvaluator;
};

/** What the gates judge. */
export type Judgeable = { intent: Intent; facts: Facts };

export type CycleSettings = {
  provider: CryptoProvider;
  rosterHash: Digest;
  policyAgeMaxMs: number;
  /** How long a dispatched call may stay unsettled before it is called uncertain. */
  dispatchDeadlineMs: number;
  publicUrl: string;
  /** Only tests have this: it spoils what the gates judge, so that each can be seen to hold. No configuration leads here. */
  spoil?: ((judged: Judgeable) => Judgeable) | undefined;
};

export type Concluded =
  | { kind: 'sealed'; entry: SealedEntry; decision: Decision; json: string }
  | { kind: 'replayed'; json: string }
  /** The active bundle is not the one that was evaluated: load it and come back. */
  | { kind: 'policy_changed' };

/**
 * Steps 3 to 5 of the cycle for one call, under the locks of its transaction: gather, decide, and everything that commits with
 * the decision. Nothing here waits, so a batch is concluded in one go.
 */
export function concludeCall(batch: LedgerBatch, prepared: Prepared, settings: CycleSettings): Concluded {
  const { call, policy } = prepared;
  const replayed = earlierAnswer(batch, call);
  if (replayed !== null) return { kind: 'replayed', json: replayed };
  if (!isCurrent(batch, prepared)) return { kind: 'policy_changed' };

  const gathered = gatherFacts(batch, { ...prepared, policyAgeMaxMs: settings.policyAgeMaxMs });
  const judgeable = { intent: judgedIntent(prepared), facts: gathered.facts };
  const judged = settings.spoil?.(judgeable) ?? judgeable;
  const decision = decide(policy?.policy ?? null, judged.intent, judged.facts, prepared.evaluate);
  const approval =
    decision.verdict === 'ESCALATE' ? (openApproval(gathered, decision) ?? ask(prepared, decision, settings)) : null;
  const entry = batch.append(
    statementOf({ ...judgedOf(prepared, decision, gathered, approval), rosterHash: settings.rosterHash }),
  );
  // Only after the statement is sealed: an entry that fails to seal must leave nothing behind in its batch.
  if (approval !== null && !gathered.open.includes(approval)) batch.newApprovals.push(approval);
  if (takesEffect(call, decision)) takeEffect(batch, { prepared, decision, gathered, settings });
  const json = writeReply({
    entry,
    decision,
    approval,
    budget: gathered.budgets[0] ?? null,
    publicUrl: settings.publicUrl,
  });
  if (call.idempotency)
    batch.newAnswers.push({
      ...scopeOf(call, call.idempotency),
      fingerprint: call.idempotency.fingerprint,
      answer: json,
    });
  return { kind: 'sealed', entry, decision, json };
}

/** Arguments that were no JSON object reach the request gate as what they are: nothing to judge. */
function judgedIntent({ call, intent }: Prepared): SealedIntent {
  return call.malformedArguments === true ? { ...intent, args: null as never } : intent; // a value that its type rules out, on purpose
}

function earlierAnswer(batch: LedgerBatch, call: GovernedCall): string | null {
  if (!call.idempotency) return null;
  const earlier = batch.answer(scopeOf(call, call.idempotency));
  if (earlier === null) return null;
  if (earlier.fingerprint !== call.idempotency.fingerprint) {
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for a different request');
  }
  return earlier.answer;
}

export function scopeOf({ caller }: GovernedCall, { key, route }: { key: string; route: string }) {
  return { tenant: caller.tenant, principal: caller.principal, route, key };
}

function isCurrent(batch: LedgerBatch, { call, policy }: Prepared): boolean {
  const head = batch.policy(call.caller.tenant);
  return (head?.hash ?? null) === (policy?.hash ?? null) && (head?.epoch ?? 0) === (policy?.epoch ?? 0);
}

/** The question that is already open for this very call and wants no less; asking twice would make two grants of one wish. */
function openApproval({ open }: Gathered, { approval_request: asked }: Decision): ApprovalRow | null {
  return asked === undefined ? null : (open.find((approval) => wantsNoLess(approval, asked)) ?? null);
}

/** Null where no approval of a call would help: a server that is not approved is another question. */
function ask({ call, ...prepared }: Prepared, decision: Decision, { provider }: CycleSettings): ApprovalRow | null {
  if (call.mode === 'shadow' || decision.approval_request === undefined) return null;
  return pendingApproval(provider, { ...prepared, call, decision, asked: decision.approval_request });
}

function judgedOf(prepared: Prepared, decision: Decision, gathered: Gathered, asked: ApprovalRow | null) {
  const { ulid, now, call, intent, policy } = prepared;
  return {
    ulid,
    at: now,
    call,
    intent,
    policy,
    decision,
    readFacts: policy === null ? {} : readFacts(policy.policy, intent, { now, relations: [] }),
    budgetIds: gathered.budgets.map((budget): BudgetId => budget.id),
    approvalId: asked?.id ?? namedApproval(call, decision, gathered),
  };
}

/** An ALLOW names the approval that it uses up, and no other: whoever counts the uses counts its decisions. A DENY names what was presented. */
function namedApproval(call: GovernedCall, decision: Decision, { approval }: Gathered): ApprovalId | null {
  if (decision.verdict !== 'ALLOW') return call.approvalGrant ?? null;
  return decision.consumes_approval && takesEffect(call, decision) ? (approval?.id ?? null) : null;
}

/** A shadow decision and a proposal are judged in full and take nothing. */
function takesEffect({ mode, dispatchedBy }: GovernedCall, { verdict }: Decision): boolean {
  return verdict === 'ALLOW' && mode === 'enforce' && dispatchedBy !== 'nobody';
}

type Allowed = { prepared: Prepared; decision: Decision; gathered: Gathered; settings: CycleSettings };

/** What an ALLOW takes: budgets, one use of the approval, and a dispatch that must be settled when the kernel itself executes. */
function takeEffect(batch: LedgerBatch, { prepared, decision, gathered, settings }: Allowed): void {
  const { ulid, nowMs, call } = prepared;
  const { demand } = gathered.facts;
  if (decision.consumes_approval && gathered.approval !== null) {
    useApproval(settings.provider, gathered.approval, nowMs);
    batch.changedApprovals.add(gathered.approval);
  }
  for (const budget of gathered.budgets) batch.changedBudgets.add(budget);
  if (call.dispatchedBy === 'caller') {
    for (const budget of gathered.budgets) spend(budget, demand);
    return;
  }
  const reservations = gathered.budgets.map((budget) => reserve(budget, demand));
  batch.newDispatches.push({
    ulid,
    tenant: call.caller.tenant,
    state: 'open',
    reservations,
    deadlineAtMs: nowMs + settings.dispatchDeadlineMs,
  });
}
