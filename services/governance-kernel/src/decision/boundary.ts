import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DecisionReply, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { toolsNamed } from '@countersign/policy';
import { outputHash } from '@countersign/receipts';
import { type BudgetId, type Digest, type PlainJson, type TenantId } from '@countersign/contracts';
import { isInForce, stopsEveryCall, type FenceRow } from '../controls/fences/fence-row.ts';
import type { KnownOrgs } from '../controls/fences/known-orgs.ts';
import type { Fenced } from '../controls/fences/scopes.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { withCurrentState, type Outdated } from '../ledger/cached-state.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { storedReceiptOf, type PlaceOf } from '../ledger/statement.ts';
import type { PolicySource } from '../controls/policy/current-policy.ts';
import type { RelationSource } from '../controls/relations/relation-source.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import { cachedStates, type CachedStates } from './cached-states.ts';
import {
  concludeCall,
  concludeStop,
  wantedFor,
  type CycleRules,
  type CycleSettings,
  type Sealed,
} from './conclude-call.ts';
import { concludeSettlement, wantedForSettlement, type EndedWith } from './conclude-settlement.ts';
import type { Caller, GovernedCall, NamedCall } from '../call/governed-call.ts';
import { versionOf } from './current-servers.ts';
import type { DecisionTelemetry } from './decision-telemetry.ts';
import { isClaimTo } from './dispatch.ts';
import type { Asker, PreparedCall } from './known-call.ts';
import { prepareCall, type CallToDecide } from './prepare-call.ts';
import type { Boundary, Ended, SealedDecision, Settlement } from './sealed-decision.ts';
import { toolOf, type Hasher, type SealedIntent } from '../call/normalise.ts';
import type { ShadowSource } from './shadow.ts';
import { closeReply, openReply, replyOf, type Answered } from './reply.ts';
import type { AskRules } from './rule-evaluation.ts';

export type BoundaryDeps = {
  ledger: GroupCommit;
  policies: PolicySource;
  shadows: ShadowSource;
  relations: RelationSource;
  tools: ToolResolver;
  askRules: AskRules;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  /** The fences around the call, read from the database, including lifted and expired ones. */
  findFencesAround: (caller: Omit<Fenced, 'org'>) => Promise<FenceRow[]>;
  orgs: KnownOrgs;
  /** Whether the agent is revoked or its credential has ended, read from the database. */
  isRevokedCaller: (caller: Caller) => Promise<boolean>;
  /** Whether the tenant blocks one of these tools, or the server of one was revoked, read from the database. */
  isWithdrawnTool: (called: { tenant: TenantId; tools: readonly string[] }) => Promise<boolean>;
  settings: CycleSettings;
  /** Called for each new decision once it is durable. */
  tellDecision?: DecisionTelemetry | undefined;
};

type Cycle = BoundaryDeps & { states: CachedStates };

/** The one decision cycle. Every governed route uses it. */
export function createBoundary(deps: BoundaryDeps): Boundary {
  const cycle: Cycle = { ...deps, states: cachedStates(deps) };
  return {
    decide: (call) => decideNamed(cycle, call, call),
    decideDispatched: (call, claim) =>
      decideNamed(cycle, call, { mode: 'enforce', dispatchedBy: 'kernel', isClaimed: isClaimTo(claim, call) }),
    forOneAnswer: () => {
      const tools = deps.tools.forOneAnswer();
      return (calls) => inOrder(cycle, { tools, calls }, (toDecide) => decideCall(cycle, toDecide));
    },
    refuseStopped: (calls) =>
      inOrder(cycle, { tools: deps.tools.forOneAnswer(), calls }, (released) => refuseStopped(cycle, released)),
    maySendLate: (decision, caller) => maySendLate(deps, decision, caller),
    settle: (decision, settlement) => settleReceipt(deps, decision, settlement),
  };
}

/** Resolves the tool of a call, if it names one, and decides the call. */
function decideNamed(cycle: Cycle, call: NamedCall, asker: Asker): Promise<SealedDecision> {
  const name = toolOf(call);
  const { tenant } = call.caller;
  const reading = cycle.tools.firstRead?.(tenant) ?? null;
  if (reading !== null) return reading.then(() => decideNamed(cycle, call, asker));
  const servers = versionOf(cycle.tools, tenant);
  const resolving = name === null ? null : cycle.tools.resolve(name, tenant);
  if (resolving === null) return decideCall(cycle, { call, asker, tool: { servers, resolution: null } });
  return resolving.then((resolution) => decideCall(cycle, { call, asker, tool: { servers, resolution } }));
}

type OneAnswer = { tools: Pick<ToolResolver, 'resolve'>; calls: readonly GovernedCall[] };

async function inOrder<Concluded>(
  cycle: Cycle,
  { tools, calls }: OneAnswer,
  conclude: (named: CallToDecide) => Promise<Concluded>,
): Promise<Concluded[]> {
  // Lookups run concurrently, so a server that does not answer delays no other.
  const tenant = calls[0]?.caller.tenant;
  if (tenant === undefined) return [];
  await cycle.tools.firstRead?.(tenant);
  const servers = versionOf(cycle.tools, tenant);
  const names = [...new Set(calls.map(toolOf))].filter((name) => name !== null);
  const resolved = new Map(
    await Promise.all(names.map(async (name) => [name, await tools.resolve(name, tenant)] as const)),
  );
  const decisions: Promise<Concluded>[] = [];
  const { monotonicMs } = cycle.settings;
  let turnSinceMs = monotonicMs();
  for (const call of calls) {
    const resolution = resolved.get(toolOf(call) ?? '') ?? null;
    const decision = conclude({ call, asker: call, tool: { servers, resolution } });
    decision.catch(() => undefined); // a rejection before the await below must not end the process
    decisions.push(decision);
    // This call may have to read relations before it is submitted, and later calls must not overtake it.
    if (asksForRelations(cycle, call)) await decision.catch(() => undefined);
    if (monotonicMs() - turnSinceMs < turnMsMax) continue;
    await nextTurn();
    turnSinceMs = monotonicMs();
  }
  // Unlike Promise.all, this waits for every decision even if one rejects, so later entries are sealed after all of
  // them.
  await Promise.allSettled(decisions);
  return await Promise.all(decisions);
}

function asksForRelations({ states }: Cycle, { caller }: GovernedCall): boolean {
  return (states.policy.current(caller.tenant)?.policy.relations.size ?? 0) > 0;
}

/** Evaluating many names against many rules takes time. After each turn of this length, other requests are served. */
const turnMsMax = 10;

async function decideCall(cycle: Cycle, toDecide: CallToDecide): Promise<SealedDecision> {
  const startedAtMs = performance.now();
  const concluded = await conclude(cycle, toDecide, concludeCall);
  if (concluded.kind === 'replayed') return new ReplayedDecision(concluded.json);
  return freshDecision(cycle, concluded, { caller: toDecide.call.caller, startedAtMs });
}

/** Seals a refusal if a stop reaches a call that was released before. Otherwise decides nothing and returns `null`. */
async function refuseStopped(cycle: Cycle, released: CallToDecide): Promise<SealedDecision | null> {
  const startedAtMs = performance.now();
  const concluded = await conclude(cycle, released, concludeStop);
  return concluded.kind === 'unstopped'
    ? null
    : freshDecision(cycle, concluded, { caller: released.call.caller, startedAtMs });
}

type Started = { caller: Caller; startedAtMs: number };

function freshDecision({ tellDecision }: Cycle, sealed: Sealed, { caller, startedAtMs }: Started): SealedDecision {
  const { entry, decision } = sealed.answered;
  const endedAtMs = performance.now();
  tellDecision?.({ caller, payload: entry.payload, trace: decision.trace, startedAtMs, endedAtMs });
  return new FreshDecision(sealed);
}

/** Prepares and submits a call, again and again until its batch confirms the cached states that it used. */
function conclude<Concluded extends { kind: string }>(
  cycle: Cycle,
  toDecide: CallToDecide,
  concludeIn: (batch: LedgerBatch, prepared: PreparedCall, rules: CycleRules) => (placeOf: PlaceOf) => Concluded,
): Promise<Exclude<Concluded, Outdated>> {
  return withCurrentState(async (reloaded) => {
    const prepared = await prepareCall(cycle, toDecide, reloaded);
    const { caller, session } = prepared.call;
    return await cycle.ledger.submit({
      chain: { tenant: caller.tenant, session },
      wants: wantedFor(prepared),
      conclude: (batch) => concludeIn(batch, prepared, cycle),
    });
  });
}

/** The time within which a decision may be acted on. After it, fences and revocations are read again. */
const sentWithinMs = 500;

function maySendLate(
  deps: BoundaryDeps,
  { concludedAtMs, intent }: SealedDecision,
  caller: Caller,
): Promise<boolean> | null {
  if (deps.settings.monotonicMs() - concludedAtMs < sentWithinMs) return null;
  if (intent === null) return Promise.resolve(false); // a replay has nothing to send
  return isUnstopped(deps, caller, intent);
}

/** Whether no fence, revocation or block of a tool currently stops the call. */
async function isUnstopped(
  { clock, findFencesAround, isRevokedCaller, isWithdrawnTool }: BoundaryDeps,
  caller: Caller,
  intent: SealedIntent,
): Promise<boolean> {
  const { tenant, principal } = caller;
  const tools = toolsNamed(intent);
  // Awaited together: without the database all of them fail, and an unawaited rejection would end the process.
  const [fences, ...withdrawn] = await Promise.all([
    findFencesAround({ tenant, principal, tools }),
    isRevokedCaller(caller),
    isWithdrawnTool({ tenant, tools }),
  ]);
  return (
    !withdrawn.includes(true) && !fences.some((fence) => stopsEveryCall(fence) && isInForce(fence, clock().getTime()))
  );
}

/** Seals the outcome of a dispatched call, as its route reports it. */
async function settleReceipt(
  deps: BoundaryDeps,
  decision: SealedDecision,
  settlement: Settlement,
): Promise<StoredReceipt> {
  const decided = decision.reply.receipt.payload;
  const nowMs = deps.clock().getTime();
  const { provider, saltOf } = deps.hasher;
  const salt = saltOf(decided.tenant_id);
  const prepared = {
    ulid: deps.newUlid(nowMs),
    nowMs,
    decided,
    ...endedWith(settlement, (output) => outputHash(provider, salt, output)),
    spentMicros: settlement.spentMicros ?? null,
    newEvent: deps.settings.newEvent,
  };
  return await deps.ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    wants: wantedForSettlement(decided, decision.reserved),
    conclude: (batch) => {
      const entry = concludeSettlement(batch, prepared);
      return (placeOf) => storedReceiptOf(entry, placeOf(entry));
    },
  });
}

function endedWith(ended: Ended, hashOf: (output: PlainJson | string) => Digest): EndedWith {
  if (ended.outcome === 'uncertain') return { outcome: 'uncertain', outputHash: null };
  return { outcome: ended.outcome, outputHash: ended.output === undefined ? null : hashOf(ended.output) };
}

// Classes, since an object literal with getters would be rebuilt for every decision.

/** A route reads the object or the text, rarely both, so each is created when it is read. */
class FreshDecision implements SealedDecision {
  readonly replayed = false;
  readonly intent: SealedIntent;
  readonly definitionHash: string | null;
  readonly sandboxGrantHash: string | null;
  readonly reserved: readonly BudgetId[];
  readonly concludedAtMs: number;
  readonly #answered: Answered;
  readonly #logIndex: number;
  #reply: DecisionReply | null = null;

  constructor(sealed: Sealed) {
    const { answered, logIndex, intent, definitionHash, sandboxGrantHash, reserved, concludedAtMs } = sealed;
    this.#answered = answered;
    this.#logIndex = logIndex;
    this.intent = intent;
    this.definitionHash = definitionHash;
    this.sandboxGrantHash = sandboxGrantHash;
    this.reserved = reserved;
    this.concludedAtMs = concludedAtMs;
  }

  get json(): string {
    return closeReply(openReply(this.#answered), this.#logIndex);
  }

  get reply(): DecisionReply {
    this.#reply ??= replyOf(this.#answered, this.#logIndex);
    return this.#reply;
  }

  get headers(): Record<string, string> {
    return decisionHeaders(this.#answered.entry.payload);
  }
}

class ReplayedDecision implements SealedDecision {
  readonly replayed = true;
  readonly intent = null;
  readonly definitionHash = null;
  readonly sandboxGrantHash = null;
  readonly reserved: readonly BudgetId[] = [];
  readonly concludedAtMs = 0;
  readonly json: string;
  #reply: DecisionReply | null = null;

  constructor(json: string) {
    this.json = json;
  }

  get reply(): DecisionReply {
    this.#reply ??= JSON.parse(this.json) as DecisionReply; // written by a kernel
    return this.#reply;
  }

  get headers(): Record<string, string> {
    return { ...decisionHeaders(this.reply.receipt.payload), 'idempotency-replayed': 'true' };
  }
}

function decisionHeaders(receipt: ReceiptPayload): Record<string, string> {
  const headers: Record<string, string> = {
    'x-gov-decision-id': receipt.decision_id,
    'x-gov-verdict': receipt.verdict,
    'x-gov-reason-code': receipt.reason_code,
    'x-gov-receipt-id': receipt.receipt_id,
    'x-gov-policy-hash': receipt.policy_hash ?? 'none',
    'x-gov-lamport-clock': String(receipt.lamport_clock),
  };
  // A reader of the verdict alone must not act on a shadow decision.
  if (receipt.shadow) headers['x-gov-shadow'] = 'true';
  return headers;
}
