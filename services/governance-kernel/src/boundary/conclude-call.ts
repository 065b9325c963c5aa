import type { ApprovalId, BudgetId, Digest, Instant } from '@countersign/contracts';
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
  type RuleEvaluator,
} from '@countersign/policy';
import { answersKeptMs } from '@countersign/idempotency';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvals } from '../approvals/approvals.ts';
import type { ArgsCipher } from '../approvals/args-cipher.ts';
import { pendingApproval, usedOnce, wantsNoLess } from '../approvals/pending.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import { budgets } from '../budgets/budgets.ts';
import { isInstallationCeiling } from '../budgets/installation-ceiling.ts';
import { amountsOf, reserve, spend } from '../budgets/reserve.ts';
import { reservationOf } from '../budgets/reservation.ts';
import { approvalRequestedEvent, budgetThresholdEvents } from '../events.ts';
import { movedOrg, takeOfThrottles, type OrgMoved } from '../fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import type { PlaceOf, SealedEntry } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { Confirmations } from '../policy/confirmations.ts';
import { activePolicy, isActive } from '../policy/policy-heads.ts';
import { shadowLanes } from '../policy/shadow-lanes.ts';
import type { PolicyChanged } from '../policy/under-active-policy.ts';
import { knowsServers, type ServersChanged } from '../registry/known-servers.ts';
import { stands, type RelationsChanged } from '../relations/under-standing-relations.ts';
import { answers } from './answers.ts';
import { dispatches } from './dispatches.ts';
import { gatherFacts, wantedFacts, type Gathered } from './facts.ts';
import type { DecisionPages } from '../approvals/approval-url.ts';
import type { NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { Asker, KnownCall } from './known-call.ts';
import { closeReply, openReply, type Answered } from './reply.ts';
import { areAsked, shadowVerdicts, validatedOnce, type ShadowAnswer, type ShadowsChanged } from './shadow.ts';
import { statementOf } from './statement-of.ts';
import { isStopped } from './stopped.ts';
import { heldGrant } from '../sandbox/held-grant.ts';

export type PreparedCall = KnownCall & {
  ulid: string;
  /** When the call came; in the batch, when its receipt is issued, which may be later. */
  nowMs: number;
  /** When the call came, as the rules read it. */
  now: Instant;
  policy: LoadedPolicy | null;
  /** The rules' answer, or why there is none; found before the batch. */
  evaluate: RuleEvaluator;
  /** The verdicts of the shadow lanes' drafts, found before the batch. */
  shadows: readonly ShadowAnswer[];
  /** They are the ones that are in force, as far as could be found out: no decision waits for drafts twice. */
  shadowsStand: boolean;
};

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
  /** How long a dispatched call may stay unsettled before it is called uncertain. */
  dispatchDeadlineMs: number;
  pages: DecisionPages;
  newEvent: NewEvent;
  /** Milliseconds on a clock that only rises. */
  monotonicMs: () => number;
  /** Only tests have this: it spoils what the gates judge, so that each can be seen to hold. No configuration leads here. */
  spoil?: ((judged: Judgeable) => Judgeable) | undefined;
  /** Only tests have this: gates that are broken on purpose, so that it can be seen who notices. No configuration leads here. */
  gates?: GateTable | undefined;
};

export type Concluded =
  | {
      kind: 'sealed';
      answered: Answered;
      logIndex: number;
      intent: SealedIntent;
      definitionHash: string | null;
      sandboxGrantHash: string | null;
      held: readonly BudgetId[];
      concludedAtMs: number;
    }
  | { kind: 'replayed'; json: string }
  | { kind: 'still_released' }
  | OrgMoved
  | PolicyChanged
  | RelationsChanged
  | ServersChanged
  | ShadowsChanged;

/** The sets that steps 3 to 5 look at. */
export function wantedFor(known: KnownCall): Wanted[] {
  const { call } = known;
  const facts = [...wantedFacts(known), wanted(shadowLanes, call.caller.tenant)];
  return call.idempotency === undefined ? facts : [...facts, wanted(answers, answerKey(call, call.idempotency))];
}

/**
 * Steps 3 to 5 of the cycle for one call: gather, decide, and everything that commits with the decision. Nothing here waits, so a
 * batch is concluded in one go.
 */
export function concludeCall(
  batch: LedgerBatch,
  prepared: PreparedCall,
  settings: CycleSettings,
): (placeOf: PlaceOf) => Concluded {
  const asked = atIssue(batch, prepared);
  const { call } = asked;
  const moved = movedOrg(batch, asked);
  if (moved !== null) return () => moved;
  if (!knowsServers(batch, asked)) return () => ({ kind: 'servers_changed' });
  const told = toldBefore(batch, asked);
  if (told === null) return concludeAnew(batch, asked, settings);
  if (!isStopped(batch, asked, asked.nowMs)) return told;
  // The denial of now is sealed; the earlier answer stays under its key.
  return concludeAnew(batch, { ...asked, call: { ...call, idempotency: undefined } }, settings);
}

/** The chain may be ahead of this kernel's clock: whatever ends is judged at the instant that the receipt will bear. */
function atIssue(batch: LedgerBatch, prepared: PreparedCall): PreparedCall {
  const { caller, session } = prepared.call;
  const nowMs = batch.issuedMs({ tenant: caller.tenant, session }, prepared.nowMs);
  return nowMs === prepared.nowMs ? prepared : { ...prepared, nowMs };
}

function concludeAnew(
  batch: LedgerBatch,
  prepared: PreparedCall,
  settings: CycleSettings,
): (placeOf: PlaceOf) => Concluded {
  const { call, intent, policy } = prepared;
  const head = activePolicy(batch, call.caller.tenant);
  if (!isActive(head, policy)) return () => ({ kind: 'policy_changed' });
  const lanes = batch.row(shadowLanes, call.caller.tenant)?.lanes ?? noLanes;
  if (!prepared.shadowsStand && !areAsked(lanes, prepared.shadows)) return () => ({ kind: 'shadows_changed' });

  if (!stands(batch, prepared.held, call.caller.tenant)) return () => ({ kind: 'relations_changed' });

  const { provider, confirmations, policyAgeMaxMs, relationsAgeMaxMs, priceCurrency } = settings;
  const grant = heldGrant(batch, provider, prepared);
  const basis = { grant, head, confirmations, policyAgeMaxMs, relationsAgeMaxMs, priceCurrency };
  const gathered = gatherFacts(batch, prepared, basis);
  const judgeable = { intent, facts: gathered.facts };
  const judged = settings.spoil?.(judgeable) ?? judgeable;
  const validateArguments = lanes.length === 0 ? validateWithAjv : validatedOnce(validateWithAjv);
  const judging = { table: settings.gates, validateArguments };
  const decision = decide(policy?.policy ?? null, judged.intent, judged.facts, prepared.evaluate, judging);
  const asked = decision.verdict === 'ESCALATE' ? approvalAsked(prepared, decision, gathered, settings) : null;
  const taken = takesEffect(prepared, decision)
    ? effectsOfAllow({ prepared, decision, gathered, settings })
    : nothingTaken;

  const approval = asked?.approval ?? null;
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
      ...{ tenant: call.caller.tenant, batch, facts: judged.facts, active: policy, validateArguments },
      ...{ destination: prepared.destination, dispatchedBy: prepared.dispatchedBy },
      grant,
    }),
  });
  const entry = batch.seal(statement, (sealed) => ({
    changes: [...taken.changes, ...(asked?.changes ?? []), ...answerKept(prepared, answeredWith(sealed))],
    events: [...taken.events, ...(asked?.events ?? [])],
  }));
  const definitionHash = judgedDefinition(gathered.facts);
  const sandboxGrantHash = judgedGrant(gathered.facts);
  const told = { intent, definitionHash, sandboxGrantHash, held: taken.held, concludedAtMs: settings.monotonicMs() };
  return (placeOf) => {
    if (head !== null) confirmations.learn(head, prepared.nowMs);
    return { kind: 'sealed', answered: answeredWith(entry), logIndex: placeOf(entry), ...told };
  };
}

const noLanes: readonly never[] = [];

/** An ALLOW says that the definition is the pinned one. */
function judgedDefinition({ registry }: Facts): string | null {
  return registry.state === 'known' ? (registry.value.tool?.pinned_hash ?? null) : null;
}

function judgedGrant({ sandbox }: Facts): string | null {
  return sandbox.state === 'known' ? sandbox.value.grant_hash : null;
}

/** The installation's ceiling tells what all tenants have used. */
const isShown = (budget: BudgetRow) => !isInstallationCeiling(budget);

function answerKey({ caller }: NamedCall, { key, route }: { key: string; route: string }) {
  return { tenant: caller.tenant, principal: caller.principal, route, key };
}

/** The repeated reply for a call that was decided before, unless a stop came since. Null: it was not. */
function toldBefore(batch: LedgerBatch, asked: PreparedCall): ((placeOf: PlaceOf) => Concluded) | null {
  if ('wasReleased' in asked.asker && asked.asker.wasReleased === true) return () => ({ kind: 'still_released' });
  const replayed = earlierAnswer(batch, asked);
  return replayed === null ? null : (placeOf) => ({ kind: 'replayed', json: replayed(placeOf) });
}

function earlierAnswer(batch: LedgerBatch, { call, nowMs }: PreparedCall): ((placeOf: PlaceOf) => string) | null {
  if (!call.idempotency) return null;
  const earlier = batch.row(answers, answerKey(call, call.idempotency));
  if (earlier === null || earlier.createdAtMs <= nowMs - answersKeptMs) return null;
  if (earlier.fingerprint !== call.idempotency.fingerprint) {
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for a different request');
  }
  const { answer, place } = earlier;
  if (answer === null || place === null)
    throw new AppError('IDEMPOTENCY_IN_FLIGHT', 'A request with this Idempotency-Key is being answered');
  return (placeOf) => closeReply(answer, typeof place === 'number' ? place : placeOf(place));
}

function answerKept({ ulid, nowMs, call }: PreparedCall, answered: Answered): Change[] {
  if (!call.idempotency) return [];
  const { fingerprint } = call.idempotency;
  const kept = { fingerprint, ulid, answer: openReply(answered), createdAtMs: nowMs, place: answered.entry };
  return [put(answers, { ...answerKey(call, call.idempotency), ...kept })];
}

type Asked = { approval: ApprovalRow; changes: Change[]; events: OutgoingEvent[] };

/**
 * The question that is already open for this very call and wants no less, since asking twice would make two grants of one wish; else
 * a new one. Null where no approval of a call would help: a server that is not approved is another question.
 */
function approvalAsked(
  { call, ...prepared }: PreparedCall,
  decision: Decision,
  gathered: Gathered,
  settings: CycleSettings,
): Asked | null {
  const { approval_request: asked } = decision;
  if (asked === undefined) return null;
  const earlier = gathered.open.find((approval) => wantsNoLess(approval, asked));
  if (earlier !== undefined) return { approval: earlier, changes: [], events: [] };
  if (!mayAsk(prepared.asker)) return null;
  const approval = pendingApproval(settings, { ...prepared, call, decision, asked, gathered });
  return { approval, changes: [put(approvals, approval)], events: [approvalRequestedEvent(settings, approval)] };
}

/**
 * An ALLOW names the approval that it uses, and no other, so that its decisions count its uses. A DENY names what was
 * presented.
 */
function namedApproval(known: KnownCall, decision: Decision, { approval }: Gathered): ApprovalId | null {
  if (decision.verdict !== 'ALLOW') return known.call.approvalGrant ?? null;
  return decision.consumes_approval && takesEffect(known, decision) ? (approval?.id ?? null) : null;
}

/** A shadow decision and a proposal are judged in full and take nothing. */
function takesEffect({ asker, dispatchedBy }: KnownCall, { verdict }: Decision): boolean {
  return verdict === 'ALLOW' && asker.mode === 'enforce' && dispatchedBy !== 'nobody';
}

type Allowed = { prepared: PreparedCall; decision: Decision; gathered: Gathered; settings: CycleSettings };
type Taken = { changes: Change[]; events: OutgoingEvent[]; budgets: Gathered['budgets']; held: readonly BudgetId[] };

const nothingTaken: Taken = { changes: [], events: [], budgets: [], held: [] };

/**
 * The effects of an ALLOW: budgets, one use of the approval, and a dispatch that must be settled when the kernel itself
 * executes.
 */
function effectsOfAllow({ prepared, decision, gathered, settings }: Allowed): Taken {
  const { nowMs, call, dispatchedBy } = prepared;
  const demand = amountsOf(gathered.facts.demand);
  const take = dispatchedBy === 'caller' ? spend : reserve;
  const left = gathered.budgets.map((budget) => take(budget, demand));
  const changes = [...takeOfThrottles(gathered.fences), ...left.map((budget) => put(budgets, budget))];
  if (decision.consumes_approval && gathered.approval !== null)
    changes.push(put(approvals, usedOnce(settings.provider, gathered.approval, nowMs)));
  const events = budgetThresholdEvents(settings, { before: gathered.budgets, after: left, nowMs });
  if (dispatchedBy === 'caller') return { changes, events, budgets: left, held: [] };
  const held = left.map(({ id }) => id);
  changes.push(
    put(dispatches, {
      ulid: prepared.ulid,
      tenant: call.caller.tenant,
      tools: toolsNamed(prepared.intent),
      reservations: held.map((budget) => reservationOf(budget, demand)),
      deadlineAtMs: nowMs + settings.dispatchDeadlineMs,
    }),
  );
  return { changes, events, budgets: left, held };
}

/** A trial, and a question without an approver, open no approval. */
function mayAsk(asker: Asker): boolean {
  return asker.mode === 'enforce' && !('asksNobody' in asker && asker.asksNobody === true);
}
