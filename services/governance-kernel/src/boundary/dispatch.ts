import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type PlainJson, type TenantId } from '@countersign/contracts';
import type { Outcome, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { ulidOf } from '@countersign/receipts';
import type { Caller, NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { Boundary, SealedDecision, Settlement } from './sealed-decision.ts';

/**
 * That the kernel itself is to perform this very call. The class stays in this file, so no other code can make the
 * claim. A decision on a call that the kernel sends, requested by anything but the dispatch, does not compile, and
 * denies.
 */
class ClaimToDispatch {
  readonly #call: NamedCall;

  constructor(call: NamedCall) {
    this.#call = call;
  }

  static isTo(claim: object, call: NamedCall): boolean {
    return #call in claim && claim.#call === call;
  }
}
export type DispatchClaim = ClaimToDispatch;

export function isClaimTo(claim: DispatchClaim, call: NamedCall): boolean {
  return ClaimToDispatch.isTo(claim, call);
}

type Sendable = { intent: SealedIntent } & Pick<
  SealedPermit,
  'tenant' | 'definitionHash' | 'sandboxGrantHash' | 'mayStillSend'
>;

/**
 * Leave to send one call, once. The class stays in this file, so no other code can make a permit. Code that calls an
 * upstream without a sealed ALLOW does not compile.
 */
class SealedPermit {
  /** With the tool: names the upstream that is to perform the call. */
  readonly tenant: TenantId;
  readonly tool: string | null;
  /** The hash of the judged tool definition: the sender compares it with the one that is listed then. */
  readonly definitionHash: string | null;
  /** The hash of the judged sandbox grant: the process that gets the call must have been started under it. */
  readonly sandboxGrantHash: string | null;
  /**
   * Whether the call may be sent that was decided a while ago. Null: it was decided just now. An upstream where a call can wait for
   * its turn asks when that has come. Never rejects.
   */
  readonly mayStillSend: () => Promise<boolean> | null;
  #intent: SealedIntent | null;

  constructor({ intent, tenant, definitionHash, sandboxGrantHash, mayStillSend }: Sendable) {
    this.tenant = tenant;
    this.tool = intent.tool;
    this.definitionHash = definitionHash;
    this.sandboxGrantHash = sandboxGrantHash;
    this.mayStillSend = mayStillSend;
    this.#intent = intent;
  }

  /** The call as it was decided, to be sent now. Throws the second time. */
  take(): SealedIntent {
    const intent = this.#intent;
    if (intent === null) throw new Error('A permit sends one call, and this one has sent it');
    this.#intent = null;
    return intent;
  }
}
export type Permit = SealedPermit;

/** The bare call of one kind of upstream. */
export type Upstream<Request, Answer> = (permit: Permit, request: Request) => Promise<Answer>;

/** How a call ended, and what its caller gets. */
export type Ending<Result> = Settlement & { result: Result };

type Effect<Request, Answer, Result> = {
  call: NamedCall;
  /** The additional request data for the upstream. */
  request: Request;
  /** Reads the answer to its end. Its errors are thrown to the caller, after the call is settled as `failed`. */
  receive(answer: Answer, decision: SealedDecision): Ending<Result> | Promise<Ending<Result>>;
  /** The settlement of a call whose upstream or whose `receive` threw. */
  failed: Settlement;
  log: Log;
};

/** A decision, and what became of the call when it was allowed and had not been decided before. */
export type Performed<Result> =
  | { kind: 'refused'; decision: SealedDecision }
  | { kind: 'replayed'; decision: SealedDecision }
  | {
      kind: 'performed';
      decision: SealedDecision;
      outcome: Outcome;
      result: Result;
      /** Null when the ledger was away: the outcome is kept, and sealed later. */
      receipt: StoredReceipt | null;
    };

type Decider = Pick<Boundary, 'decideDispatched' | 'maySendLate' | 'settle'>;

/** One kind of upstream behind the boundary: all that a route is handed of it. */
export type Effects<Request, Answer> = {
  perform<Result>(effect: Effect<Request, Answer, Result>): Promise<Performed<Result>>;
};

/** How long a call that was allowed waits for a database that blinks: longer than a failover takes, shorter than callers wait. */
const unreadMsMax = 10_000;
const askAgainMs = 250;

/**
 * The one dispatch of every effect: it decides, sends an allowed call once, and settles it.
 *
 * Outcomes that could not be sealed because the ledger was away are kept here. Only this process knows that those calls were sent:
 * to the reconciler they would look abandoned, and their budgets would get back what was used.
 */
export class Dispatch {
  readonly #boundary: Decider;
  readonly #unreadMsMax: number;
  readonly #unsealed = new Map<SealedDecision, Settlement>();
  readonly #live = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(boundary: Decider, options: { unreadMsMax?: number } = {}) {
    this.#boundary = boundary;
    this.#unreadMsMax = options.unreadMsMax ?? unreadMsMax;
  }

  /** Puts an upstream behind the boundary. */
  to<Request, Answer>(upstream: Upstream<Request, Answer>): Effects<Request, Answer> {
    return { perform: (effect) => this.#tracked(this.#perform(upstream, effect)) };
  }

  /** ULIDs of the calls that this process was allowed to send and has not settled. */
  live(): string[] {
    return [...this.#live];
  }

  /** Resolves when every call that is on its way has ended. Each has a deadline. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** Tries again to seal the outcomes that are kept. Never rejects. */
  async sealKept(): Promise<void> {
    await Promise.allSettled([...this.#unsealed].map(([decision, settlement]) => this.#settle(decision, settlement)));
  }

  async #tracked<Result>(performing: Promise<Result>): Promise<Result> {
    this.#running.add(performing);
    try {
      return await performing;
    } finally {
      this.#running.delete(performing);
    }
  }

  async #perform<Request, Answer, Result>(
    upstream: Upstream<Request, Answer>,
    effect: Effect<Request, Answer, Result>,
  ): Promise<Performed<Result>> {
    const call = unchangeable(effect.call);
    const decision = await this.#boundary.decideDispatched(call, new ClaimToDispatch(call));
    if (decision.reply.receipt.payload.verdict !== 'ALLOW') return { kind: 'refused', decision };
    if (decision.replayed) return { kind: 'replayed', decision };
    const mayStillSend = () => this.#mayStillSend(decision, call.caller, effect.log);
    const permit = permitFor(decision, { call, mayStillSend });
    this.#live.add(ulidOf(decision.reply.decision_id));
    const late = mayStillSend();
    if (late !== null && !(await late)) await this.#endUnsent(decision, effect.log);
    const { result, ...settlement } = await this.#send(upstream, { permit, decision, effect });
    const receipt = await this.#settleOrKeep(decision, settlement, effect.log);
    return { kind: 'performed', decision, outcome: settlement.outcome, result, receipt };
  }

  #mayStillSend(decision: SealedDecision, caller: Caller, log: Log): Promise<boolean> | null {
    const ask = () => this.#boundary.maySendLate(decision, caller);
    const told = ask();
    return told === null ? null : this.#toldInTime(told, { ask, decision, log });
  }

  /** Asks again while the answer cannot be read. Without an answer by then, it refuses. */
  async #toldInTime(
    told: Promise<boolean>,
    { ask, decision, log }: { ask: () => Promise<boolean> | null; decision: SealedDecision; log: Log },
  ): Promise<boolean> {
    const giveUpAtMs = performance.now() + this.#unreadMsMax;
    for (let answer: Promise<boolean> | null = told; ; answer = ask()) {
      try {
        return (await answer) ?? true;
      } catch (error) {
        if (performance.now() + askAgainMs > giveUpAtMs) {
          log.error('fences.unread', { decision_id: decision.reply.decision_id, error });
          return false;
        }
      }
      await delay(askAgainMs);
    }
  }

  /** Settles the call as one that was not sent, and throws. */
  async #endUnsent(decision: SealedDecision, log: Log): Promise<never> {
    await this.#settleOrKeep(decision, { outcome: 'failed' }, log);
    throw new AppError(
      'UPSTREAM_FAILED',
      'The call was held up, and then a fence stood before it, its agent, credential or tool was withdrawn, or its state was unknown: it was not sent',
    );
  }

  async #send<Request, Answer, Result>(
    upstream: Upstream<Request, Answer>,
    { permit, decision, effect }: { permit: Permit; decision: SealedDecision; effect: Effect<Request, Answer, Result> },
  ): Promise<Ending<Result>> {
    try {
      return await effect.receive(await upstream(permit, effect.request), decision);
    } catch (error) {
      await this.#settleOrKeep(decision, effect.failed, effect.log);
      throw error;
    }
  }

  /** The call has been sent: an outcome that cannot be sealed now must not turn its answer into an error. */
  async #settleOrKeep(decision: SealedDecision, settlement: Settlement, log: Log): Promise<StoredReceipt | null> {
    try {
      return await this.#settle(decision, settlement);
    } catch (error) {
      log.error('outcome.unsealed', { decision_id: decision.reply.decision_id, error });
      return null;
    }
  }

  async #settle(decision: SealedDecision, settlement: Settlement): Promise<StoredReceipt> {
    try {
      const receipt = await this.#boundary.settle(decision, settlement);
      this.#forget(decision);
      return receipt;
    } catch (error) {
      // Any other refusal stands: this outcome, or that of the reconciler, is sealed already.
      if (isAppError(error) && error.code === 'RECEIPT_STORE_UNAVAILABLE') this.#unsealed.set(decision, settlement);
      else this.#forget(decision);
      throw error;
    }
  }

  #forget(decision: SealedDecision): void {
    this.#unsealed.delete(decision);
    this.#live.delete(ulidOf(decision.reply.decision_id));
  }
}

/** A frozen copy: neither the call nor its arguments change while it is decided and sent. */
function unchangeable(call: NamedCall): NamedCall {
  freeze(call.args);
  return Object.freeze({ ...call });
}

function freeze(value: PlainJson): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

/** The receipt, not the reply around it, says what was allowed. Throws unless that is this very call. */
function permitFor(
  { reply, replayed, intent, definitionHash, sandboxGrantHash }: SealedDecision,
  { call, mayStillSend }: { call: NamedCall } & Pick<Permit, 'mayStillSend'>,
): Permit {
  const { payload } = reply.receipt;
  const isThisCall =
    !replayed &&
    intent !== null &&
    intent.args === call.args &&
    payload.kind === 'decision' &&
    payload.verdict === 'ALLOW' &&
    !payload.shadow &&
    payload.tenant_id === call.caller.tenant &&
    payload.principal_id === call.caller.principal &&
    payload.session_id === call.session &&
    payload.action === intent.action &&
    payload.tool === intent.tool &&
    payload.resource === intent.resource &&
    payload.effect_level === intent.effect_level &&
    payload.args_hash === intent.args_hash;
  if (!isThisCall) throw new Error('Nothing is dispatched without an ALLOW for this very call');
  return new SealedPermit({ intent, tenant: call.caller.tenant, definitionHash, sandboxGrantHash, mayStillSend });
}
