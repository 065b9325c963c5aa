import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DecisionReply, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { decisionWork, neededRelations, Work, type NeededRelations } from '@countersign/policy';
import { outputHash } from '@countersign/receipts';
import { type BudgetId, type Digest, type Instant, type PlainJson, type TenantId } from '@countersign/contracts';
import { isInForce, stopsEveryCall, type FenceRow } from '../fences/fence-row.ts';
import type { OrgMoved } from '../fences/in-force.ts';
import type { KnownOrgs } from '../fences/known-orgs.ts';
import type { Fenced } from '../fences/scopes.ts';
import { underStandingOrg } from '../fences/under-standing-org.ts';
import { toolsNamed } from '@countersign/policy';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { underActivePolicy, type PolicySource } from '../policy/under-active-policy.ts';
import { relationsOf, type RelationSource } from '../relations/relation-source.ts';
import { underStandingRelations, type RelationsChanged } from '../relations/under-standing-relations.ts';
import type { ToolResolution, ToolResolver } from '../registry/tool-resolver.ts';
import { concludeCall, wantedFor, type Concluded, type CycleSettings, type PreparedCall } from './conclude-call.ts';
import { concludeSettlement, wantedForSettlement, type EndedWith } from './conclude-settlement.ts';
import type { Caller, GovernedCall, NamedCall } from '../call/governed-call.ts';
import { judgedOf } from '../call/judged.ts';
import type { DecisionTelemetry } from './decision-telemetry.ts';
import { isClaimTo } from './dispatch.ts';
import { destinationOf, dispatchedBy, learnedOf, type Asker, type KnownCall } from './known-call.ts';
import type { Boundary, Ended, SealedDecision, Settlement } from './sealed-decision.ts';
import { underKnownServers, versionOf } from './under-known-servers.ts';
import { normalise, toolOf, type Hasher, type SealedIntent } from '../call/normalise.ts';
import { askDrafts, type ShadowsChanged, type ShadowSource } from './shadow.ts';
import { closeReply, openReply, replyOf, type Answered } from './reply.ts';
import { evaluateAhead, type AskRules } from './rule-evaluation.ts';

export type BoundaryParts = {
  ledger: GroupCommit;
  policies: PolicySource;
  shadows: ShadowSource;
  relations: RelationSource;
  tools: ToolResolver;
  askRules: AskRules;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  /** The fences that are set around such a call, as the database holds them now. */
  findFencesAround: (caller: Omit<Fenced, 'org'>) => Promise<FenceRow[]>;
  orgs: KnownOrgs;
  /** Reads the current state of the agent and its credential in the database. */
  isRevokedCaller: (caller: Caller) => Promise<boolean>;
  /** Whether the tenant blocks one of these tools, or the server of one was revoked, as the database says now. */
  isWithdrawnTool: (called: { tenant: TenantId; tools: readonly string[] }) => Promise<boolean>;
  settings: CycleSettings;
  /** Told of each new decision once it is durable. */
  tellDecision?: DecisionTelemetry | undefined;
};

/** The one decision cycle. Every governed route comes through here. */
export function createBoundary(parts: BoundaryParts): Boundary {
  return {
    decide: (call) => decideNamed(parts, call, call),
    decideDispatched: (call, claim) =>
      decideNamed(parts, call, { mode: 'enforce', dispatchedBy: 'kernel', isClaimed: isClaimTo(claim, call) }),
    forOneAnswer: () => {
      const tools = parts.tools.forOneAnswer();
      return (calls) => inOrder(parts, { tools, calls }, (asked) => decideCall(parts, asked));
    },
    refuseStopped: (calls) =>
      inOrder(parts, { tools: parts.tools.forOneAnswer(), calls }, (asked) => refuseIfStopped(parts, asked)),
    maySendLate: (decision, caller) => maySendLate(parts, decision, caller),
    settle: (decision, settlement) => settleReceipt(parts, decision, settlement),
  };
}

/** A call without a registered tool waits for no look-up. */
function decideNamed(parts: BoundaryParts, call: NamedCall, asker: Asker): Promise<SealedDecision> {
  const tool = toolOf(call);
  const { tenant } = call.caller;
  const reading = parts.tools.firstRead?.(tenant) ?? null;
  if (reading !== null) return reading.then(() => decideNamed(parts, call, asker));
  const servers = versionOf(parts.tools, tenant);
  const asked = tool === null ? null : parts.tools.resolve(tool, tenant);
  if (asked === null) return decideCall(parts, { call, asker, servers, resolution: null });
  return asked.then((resolution) => decideCall(parts, { call, asker, servers, resolution }));
}

type OneAnswer = { tools: Pick<ToolResolver, 'resolve'>; calls: readonly GovernedCall[] };

async function inOrder<Told>(
  parts: BoundaryParts,
  { tools, calls }: OneAnswer,
  ask: (asked: AskedByDoor) => Promise<Told>,
): Promise<Told[]> {
  // At the same time, so that a server which does not answer takes no time from another that does.
  const tenant = calls[0]?.caller.tenant;
  if (tenant === undefined) return [];
  await parts.tools.firstRead?.(tenant);
  const servers = versionOf(parts.tools, tenant);
  const names = [...new Set(calls.map(toolOf))].filter((name) => name !== null);
  const resolved = new Map(
    await Promise.all(names.map(async (name) => [name, await tools.resolve(name, tenant)] as const)),
  );
  const decisions: Promise<Told>[] = [];
  const { monotonicMs } = parts.settings;
  let turnSinceMs = monotonicMs();
  for (const call of calls) {
    const resolution = resolved.get(toolOf(call) ?? '') ?? null;
    const decision = ask({ call, asker: call, servers, resolution });
    decision.catch(() => undefined); // it may be refused while others are still handed over, and is told below
    decisions.push(decision);
    // It may have to ask for relations before it is submitted, and those behind it may not.
    if (asksForRelations(parts, call)) await decision.catch(() => undefined);
    if (monotonicMs() - turnSinceMs < turnMsMax) continue;
    await nextTurn();
    turnSinceMs = monotonicMs();
  }
  // Unlike Promise.all it waits for the others of one that rejects: what follows is sealed behind each of them.
  await Promise.allSettled(decisions);
  return await Promise.all(decisions);
}

function asksForRelations({ policies }: BoundaryParts, { caller }: GovernedCall): boolean {
  return (policies.current(caller.tenant)?.policy.relations.size ?? 0) > 0;
}

/** Many names before many rules take their time; others have theirs in between. */
const turnMsMax = 10;

type Asked = { call: NamedCall; asker: Asker; resolution: ToolResolution | null } & Pick<KnownCall, 'servers'>;
type AskedByDoor = Asked & { asker: GovernedCall };

async function decideCall(parts: BoundaryParts, asked: Asked): Promise<SealedDecision> {
  const decision = await sealCall(parts, asked);
  if (decision === null) throw new Error('Every caller of decide gets a decision');
  return decision;
}

function refuseIfStopped(parts: BoundaryParts, { asker, ...asked }: AskedByDoor): Promise<SealedDecision | null> {
  return sealCall(parts, { ...asked, asker: { ...asker, wasReleased: true } });
}

/** `null` when the call was released before, and no stop came since. */
async function sealCall(parts: BoundaryParts, asked: Asked): Promise<SealedDecision | null> {
  const { caller } = asked.call;
  const startedAtMs = performance.now();
  const concluded = await underKnownServers(parts.tools, asked, (known) =>
    underActivePolicy(parts.policies, caller.tenant, (policy) => attemptCall(parts, known, policy)),
  );
  if (concluded.kind === 'still_released') return null;
  if (concluded.kind === 'replayed') return new ReplayedDecision(concluded.json);
  const { entry, decision } = concluded.answered;
  const endedAtMs = performance.now();
  parts.tellDecision?.({ caller, payload: entry.payload, trace: decision.trace, startedAtMs, endedAtMs });
  return new FreshDecision(concluded);
}

async function attemptCall(
  parts: BoundaryParts,
  { call, asker, resolution, servers }: Asked,
  policy: LoadedPolicy | null,
): Promise<Exclude<Concluded, OrgMoved | RelationsChanged | ShadowsChanged>> {
  const compiled = policy?.policy ?? null;
  const work = decisionWork();
  const { intent, fault } = normalise(parts.hasher, call, { resolution, policy: compiled, work });
  const needed = compiled === null ? null : neededRelations(compiled, intent, work);
  const known = { call, asker, intent, fault, policy, resolution, servers, workLeft: work.left };
  const asked = { source: parts.relations, tenant: call.caller.tenant, needed };
  return await underStandingRelations(asked, (held) => submitCall(parts, { ...known, needed, held }));
}

type Normalised = Asked &
  Pick<KnownCall, 'intent' | 'fault' | 'held'> & {
    policy: LoadedPolicy | null;
    needed: NeededRelations | null;
    /** For the rules: of what one decision may do, what the names and relations of the call have not taken. */
    workLeft: number;
  };

async function submitCall(
  parts: BoundaryParts,
  { resolution, policy, needed, workLeft, ...known }: Normalised,
): Promise<Exclude<Concluded, OrgMoved | ShadowsChanged>> {
  const { call, asker, intent, held } = known;
  const compiled = policy?.policy ?? null;
  const nowMs = parts.clock().getTime();
  const now = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const environment = { now, relations: relationsOf(held) };
  const judgedBy = { intent, environment, work: new Work(workLeft) };
  const evaluate = compiled === null ? neverAsked : await evaluateAhead(parts.askRules, compiled, judgedBy);
  const prepared = {
    ...known,
    ulid: parts.newUlid(nowMs),
    nowMs,
    now,
    policy,
    evaluate,
    judged: judgedOf(parts.hasher, call, { intent, policy: compiled, ...environment }),
    dispatchedBy: dispatchedBy(asker, resolution),
    destination: destinationOf(intent, resolution),
    learned: learnedOf(intent, asker, resolution),
    serverKey: resolution?.kind === 'registered' ? (resolution.serverKey ?? null) : null,
  };
  const { tenant } = call.caller;
  const ask = () =>
    askDrafts(parts.shadows, parts.shadows.current(tenant), {
      call,
      intent,
      resolution,
      now,
      relations: { needed, held },
    });
  const concluded = await concludeInOrg(parts, { ...prepared, shadows: ask(), shadowsStand: false });
  if (concluded.kind !== 'shadows_changed') return concluded;
  await parts.shadows.reload(tenant);
  const settled = await concludeInOrg(parts, { ...prepared, shadows: ask(), shadowsStand: true });
  if (settled.kind === 'shadows_changed') throw new Error('A decision waits for drafts once');
  return settled;
}

async function concludeInOrg(
  { ledger, orgs, settings }: BoundaryParts,
  prepared: Omit<PreparedCall, 'org'>,
): Promise<Exclude<Concluded, OrgMoved>> {
  const { caller, session } = prepared.call;
  return await underStandingOrg(orgs, caller.tenant, (org) => {
    const asked = { ...prepared, org };
    return ledger.submit({
      chain: { tenant: caller.tenant, session },
      wants: wantedFor(asked),
      conclude: (batch) => concludeCall(batch, asked, settings),
    });
  });
}

/** The time in which a decision may become durable and be acted upon before fences and revocations are read again. */
const sentWithinMs = 500;

function maySendLate(
  parts: BoundaryParts,
  { concludedAtMs, intent }: SealedDecision,
  caller: Caller,
): Promise<boolean> | null {
  if (parts.settings.monotonicMs() - concludedAtMs < sentWithinMs) return null;
  if (intent === null) return Promise.resolve(false); // an earlier answer, and nothing to send
  return isUnstopped(parts, caller, intent);
}

/** Neither a fence nor a revocation has come between the decision and now. */
async function isUnstopped(
  { clock, findFencesAround, isRevokedCaller, isWithdrawnTool }: BoundaryParts,
  caller: Caller,
  intent: SealedIntent,
): Promise<boolean> {
  const { tenant, principal } = caller;
  const tools = toolsNamed(intent);
  // Awaited together: without the database all of them fail, and an unawaited rejection would end the kernel.
  const [fences, ...withdrawn] = await Promise.all([
    findFencesAround({ tenant, principal, tools }),
    isRevokedCaller(caller),
    isWithdrawnTool({ tenant, tools }),
  ]);
  return (
    !withdrawn.includes(true) && !fences.some((fence) => stopsEveryCall(fence) && isInForce(fence, clock().getTime()))
  );
}

function neverAsked(): never {
  throw new Error('there is no policy to evaluate');
}

/** Seals how a dispatched call ended, as the route that dispatched it tells. */
async function settleReceipt(
  parts: BoundaryParts,
  decision: SealedDecision,
  settlement: Settlement,
): Promise<StoredReceipt> {
  const decided = decision.reply.receipt.payload;
  const nowMs = parts.clock().getTime();
  const { provider, saltOf } = parts.hasher;
  const salt = saltOf(decided.tenant_id);
  const prepared = {
    ulid: parts.newUlid(nowMs),
    nowMs,
    decided,
    ...endedWith(settlement, (output) => outputHash(provider, salt, output)),
    spentMicros: settlement.spentMicros ?? null,
    newEvent: parts.settings.newEvent,
  };
  return await parts.ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    wants: wantedForSettlement(decided, decision.held),
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

// Classes, because an object literal with getters is built again for every decision.

/** A door reads the object or the text, seldom both: each is made when it is read. */
class FreshDecision implements SealedDecision {
  readonly replayed = false;
  readonly intent: SealedIntent;
  readonly definitionHash: string | null;
  readonly sandboxGrantHash: string | null;
  readonly held: readonly BudgetId[];
  readonly concludedAtMs: number;
  readonly #answered: Answered;
  readonly #logIndex: number;
  #reply: DecisionReply | null = null;

  constructor(sealed: Extract<Concluded, { kind: 'sealed' }>) {
    const { answered, logIndex, intent, definitionHash, sandboxGrantHash, held, concludedAtMs } = sealed;
    this.#answered = answered;
    this.#logIndex = logIndex;
    this.intent = intent;
    this.definitionHash = definitionHash;
    this.sandboxGrantHash = sandboxGrantHash;
    this.held = held;
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
  readonly held: readonly BudgetId[] = [];
  readonly concludedAtMs = 0;
  readonly json: string;
  #reply: DecisionReply | null = null;

  constructor(json: string) {
    this.json = json;
  }

  get reply(): DecisionReply {
    this.#reply ??= JSON.parse(this.json) as DecisionReply; // a kernel wrote it
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
  // Who reads the verdict alone must not act on what would have been decided.
  if (receipt.shadow) headers['x-gov-shadow'] = 'true';
  return headers;
}
