import type { ApprovalId, BudgetId, Digest } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { AppError } from '@countersign/contracts';
import {
  decide,
  toolsNamed,
  validateWithAjv,
  type Decision,
  type Facts,
  type GateTable,
  type Intent,
} from '@countersign/policy';
import { answersKeptMs } from '@countersign/idempotency';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import { approvals } from '../controls/approvals/approvals.ts';
import type { ArgsCipher } from '../controls/approvals/args-cipher.ts';
import { usedOnce } from '../controls/approvals/pending.ts';
import type { BudgetRow } from '../controls/budgets/budget-row.ts';
import { budgets } from '../controls/budgets/budgets.ts';
import { isInstallationCeiling } from '../controls/budgets/installation-ceiling.ts';
import { amountsOf, reserve, spend } from '../controls/budgets/reserve.ts';
import { reservationOf } from '../controls/budgets/reservation.ts';
import { budgetThresholdEvents } from '../events.ts';
import { takeOfThrottles } from '../controls/fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { findOutdated, type Outdated } from '../ledger/cached-state.ts';
import { put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import type { PlaceOf, SealedEntry } from '../ledger/statement.ts';
import type { Confirmations } from '../controls/policy/confirmations.ts';
import { activePolicy } from '../controls/policy/policy-heads.ts';
import { shadowLanes } from '../controls/policy/shadow-lanes.ts';
import { answers } from './answers.ts';
import { approvalAsked } from './approval-asked.ts';
import type { CachedStates } from './cached-states.ts';
import { atIssue, withoutKey } from './changed-call.ts';
import { dispatches } from './dispatches.ts';
import { gatherFacts, wantedFacts, type Gathered } from './facts.ts';
import type { DecisionPages } from '../controls/approvals/approval-url.ts';
import type { NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { KnownCall, PreparedCall } from './known-call.ts';
import { closeReply, openReply, type Answered } from './reply.ts';
import { lanesIn, shadowVerdicts, validatedOnce } from './shadow.ts';
import { statementOf } from './statement-of.ts';
import { isStopped } from './stopped.ts';
import { heldGrant } from '../controls/sandbox/held-grant.ts';

/** The input of the gates. */
export type Judgeable = { intent: Intent; facts: Facts };

export type CycleSettings = {
  provider: CryptoProvider;
  argsCipher: ArgsCipher;
  rosterHash: Digest;
  policyAgeMaxMs: number;
  relationsAgeMaxMs: number;
  priceCurrency: string | null;
  confirmations: Confirmations;
  /** The time after which an unsettled dispatched call counts as uncertain. */
  dispatchDeadlineMs: number;
  pages: DecisionPages;
  newEvent: NewEvent;
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /**
   * Only for tests: changes the input of the gates, so that each gate can be seen to deny. No configuration sets it.
   */
  spoil?: ((judged: Judgeable) => Judgeable) | undefined;
  /** Only for tests: broken gates that the self-tests must detect. No configuration sets it. */
  gates?: GateTable | undefined;
};

export type Sealed = {
  kind: 'sealed';
  answered: Answered;
  logIndex: number;
  intent: SealedIntent;
  definitionHash: string | null;
  sandboxGrantHash: string | null;
  reserved: readonly BudgetId[];
  concludedAtMs: number;
};
type Replayed = { kind: 'replayed'; json: string };
type Unstopped = { kind: 'unstopped' };

/** `Done` once the places in the log are known. */
type Conclusion<Done> = (placeOf: PlaceOf) => Done;

/** The sets that steps 3 to 5 of the cycle read. */
export function wantedFor(prepared: KnownCall): Wanted[] {
  const { call } = prepared;
  const sets = wantedFacts(prepared);
  sets.push(wanted(shadowLanes, call.caller.tenant));
  if (call.idempotency !== undefined) sets.push(wanted(answers, answerKey(call, call.idempotency)));
  return sets;
}

export type CycleRules = { states: Pick<CachedStates, 'ofStops' | 'ofDecision'>; settings: CycleSettings };

/**
 * Steps 3 to 5 of the cycle for one call: gather, decide, and all effects that commit with the decision. It is
 * synchronous, so a batch is concluded without interruption.
 */
export function concludeCall(
  batch: LedgerBatch,
  early: PreparedCall,
  rules: CycleRules,
): Conclusion<Sealed | Replayed | Outdated> {
  const prepared = atIssue(batch, early);
  const outdated = findOutdated(rules.states.ofStops, batch, prepared);
  if (outdated !== null) return () => outdated;
  const replayed = earlierAnswer(batch, prepared);
  if (replayed === null) return concludeNew(batch, prepared, rules);
  if (!isStopped(batch, prepared, prepared.nowMs)) return (placeOf) => ({ kind: 'replayed', json: replayed(placeOf) });
  return concludeNew(batch, withoutKey(prepared), rules);
}

/** Seals a refusal of a call that was released before, if a stop reaches it now. Otherwise seals nothing. */
export function concludeStop(
  batch: LedgerBatch,
  early: PreparedCall,
  rules: CycleRules,
): Conclusion<Sealed | Unstopped | Outdated> {
  const prepared = atIssue(batch, early);
  const outdated = findOutdated(rules.states.ofStops, batch, prepared);
  if (outdated !== null) return () => outdated;
  if (!isStopped(batch, prepared, prepared.nowMs)) return () => ({ kind: 'unstopped' });
  return concludeNew(batch, withoutKey(prepared), rules);
}

function concludeNew(
  batch: LedgerBatch,
  prepared: PreparedCall,
  { states, settings }: CycleRules,
): Conclusion<Sealed | Outdated> {
  const outdated = findOutdated(states.ofDecision, batch, prepared);
  return outdated === null ? sealNew(batch, prepared, settings) : () => outdated;
}

function sealNew(batch: LedgerBatch, prepared: PreparedCall, settings: CycleSettings): Conclusion<Sealed> {
  const { call, intent, policy } = prepared;
  const head = activePolicy(batch, call.caller.tenant);
  const lanes = lanesIn(batch, call.caller.tenant);
  const { provider, confirmations, policyAgeMaxMs, relationsAgeMaxMs, priceCurrency } = settings;
  const grant = heldGrant(batch, provider, prepared);
  const basis = { grant, head, confirmations, policyAgeMaxMs, relationsAgeMaxMs, priceCurrency };
  const gathered = gatherFacts(batch, prepared, basis);
  const judgeable = { intent, facts: gathered.facts };
  const judged = settings.spoil?.(judgeable) ?? judgeable;
  const validateArguments = lanes.length === 0 ? validateWithAjv : validatedOnce(validateWithAjv);
  const judging = { table: settings.gates, validateArguments };
  const decision = decide(policy?.policy ?? null, judged.intent, judged.facts, prepared.evaluate, judging);
  const question = decision.verdict === 'ESCALATE' ? approvalAsked(prepared, decision, gathered, settings) : null;
  const taken = takesEffect(prepared, decision)
    ? effectsOfAllow({ prepared, decision, gathered, settings })
    : nothingTaken;

  const approval = question?.approval ?? null;
  const [budget = null] = (taken.budgets.length > 0 ? taken.budgets : gathered.budgets).filter(isShown);
  const { pages } = settings;
  const answeredWith = (entry: SealedEntry): Answered => ({ entry, decision, approval, budget, pages });
  const statement = statementOf(prepared, {
    decision,
    fences: gathered.fences,
    budgets: gathered.budgets,
    facts: gathered.facts,
    approvalId: approval?.id ?? namedApproval(prepared, decision, gathered),
    rosterHash: settings.rosterHash,
    shadow: shadowVerdicts(lanes, prepared.shadows, {
      tenant: call.caller.tenant,
      batch,
      facts: judged.facts,
      active: policy,
      validateArguments,
      destination: prepared.destination,
      dispatchedBy: prepared.dispatchedBy,
      grant,
    }),
  });
  const entry = batch.seal(statement, (sealed) => ({
    changes: [...taken.changes, ...(question?.changes ?? []), ...answerKept(prepared, answeredWith(sealed))],
    events: [...taken.events, ...(question?.events ?? [])],
  }));
  const definitionHash = judgedDefinition(gathered.facts);
  const sandboxGrantHash = judgedGrant(gathered.facts);
  const concludedAtMs = settings.monotonicMs();
  const { reserved } = taken;
  return (placeOf) => {
    if (head !== null) confirmations.learn(head, prepared.nowMs);
    const [answered, logIndex] = [answeredWith(entry), placeOf(entry)];
    return { kind: 'sealed', answered, logIndex, intent, definitionHash, sandboxGrantHash, reserved, concludedAtMs };
  };
}

/** The hash of the pinned definition. After an ALLOW, the current definition is known to equal it. */
function judgedDefinition({ registry }: Facts): string | null {
  return registry.state === 'known' ? (registry.value.tool?.pinned_hash ?? null) : null;
}

function judgedGrant({ sandbox }: Facts): string | null {
  return sandbox.state === 'known' ? sandbox.value.grant_hash : null;
}

/** Replies do not show the installation's ceiling, since it contains the usage of all tenants. */
const isShown = (budget: BudgetRow) => !isInstallationCeiling(budget);

function answerKey({ caller }: NamedCall, { key, route }: { key: string; route: string }) {
  return { tenant: caller.tenant, principal: caller.principal, route, key };
}

/** The earlier answer under the key of the call. `null` when there is none. */
function earlierAnswer(batch: LedgerBatch, { call, nowMs }: PreparedCall): ((placeOf: PlaceOf) => string) | null {
  if (!call.idempotency) return null;
  const earlier = batch.row(answers, answerKey(call, call.idempotency));
  if (earlier === null || earlier.createdAtMs <= nowMs - answersKeptMs) return null;
  if (earlier.fingerprint !== call.idempotency.fingerprint) {
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used for a different request. Use a new key');
  }
  const { answer, place } = earlier;
  if (answer === null || place === null)
    throw new AppError(
      'IDEMPOTENCY_IN_FLIGHT',
      'A request with this Idempotency-Key is still running. Repeat it later',
    );
  return (placeOf) => closeReply(answer, typeof place === 'number' ? place : placeOf(place));
}

function answerKept({ ulid, nowMs, call }: PreparedCall, answered: Answered): Change[] {
  if (!call.idempotency) return [];
  const { fingerprint } = call.idempotency;
  const { tenant, principal, route, key } = answerKey(call, call.idempotency);
  const [answer, place] = [openReply(answered), answered.entry];
  return [put(answers, { tenant, principal, route, key, fingerprint, ulid, answer, createdAtMs: nowMs, place })];
}

/**
 * An ALLOW contains only the approval that it uses, so its uses can be counted. Other verdicts without an approval
 * request contain the approval that the call presented.
 */
function namedApproval(prepared: KnownCall, decision: Decision, { approval }: Gathered): ApprovalId | null {
  if (decision.verdict !== 'ALLOW') return prepared.call.approvalGrant ?? null;
  return decision.consumes_approval && takesEffect(prepared, decision) ? (approval?.id ?? null) : null;
}

/** Shadow decisions, and proposals for registered tools, are judged in full and consume nothing. */
function takesEffect({ asker, dispatchedBy }: KnownCall, { verdict }: Decision): boolean {
  return verdict === 'ALLOW' && asker.mode === 'enforce' && dispatchedBy !== 'nobody';
}

type Allowed = { prepared: PreparedCall; decision: Decision; gathered: Gathered; settings: CycleSettings };
type Taken = {
  changes: Change[];
  events: OutgoingEvent[];
  budgets: Gathered['budgets'];
  reserved: readonly BudgetId[];
};

const nothingTaken: Taken = { changes: [], events: [], budgets: [], reserved: [] };

/**
 * The effects of an ALLOW: throttles and budgets are charged, and an approval is used once. For a call that the kernel
 * executes, amounts are only reserved, and a dispatch is stored until it is settled.
 */
function effectsOfAllow({ prepared, decision, gathered, settings }: Allowed): Taken {
  const { nowMs, call, dispatchedBy } = prepared;
  const demand = amountsOf(gathered.facts.demand);
  const take = dispatchedBy === 'caller' ? spend : reserve;
  const charged = gathered.budgets.map((budget) => take(budget, demand));
  const changes = [...takeOfThrottles(gathered.fences), ...charged.map((budget) => put(budgets, budget))];
  if (decision.consumes_approval && gathered.approval !== null)
    changes.push(put(approvals, usedOnce(settings.provider, gathered.approval, nowMs)));
  const events = budgetThresholdEvents(settings, { before: gathered.budgets, after: charged, nowMs });
  if (dispatchedBy === 'caller') return { changes, events, budgets: charged, reserved: [] };
  const reserved = charged.map(({ id }) => id);
  changes.push(
    put(dispatches, {
      ulid: prepared.ulid,
      tenant: call.caller.tenant,
      tools: toolsNamed(prepared.intent),
      reservations: reserved.map((budget) => reservationOf(budget, demand)),
      deadlineAtMs: nowMs + settings.dispatchDeadlineMs,
    }),
  );
  return { changes, events, budgets: charged, reserved };
}
