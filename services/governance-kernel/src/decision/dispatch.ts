import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type PlainJson, type TenantId } from '@countersign/contracts';
import type { Outcome, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { ulidOf } from '@countersign/receipts';
import type { Caller, NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import { stoppedWhileWaiting } from './not-sent.ts';
import type { Boundary, SealedDecision, Settlement } from './sealed-decision.ts';

/**
 * A claim that the kernel itself performs this call. The class stays in this file, so no other code can create a claim.
 * Other code that requests a decision for execution by the kernel does not compile, and a forged claim is denied.
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
 * Permission to send one call, once. The class stays in this file, so no other code can create a permit. Code that
 * calls an upstream without a sealed ALLOW does not compile.
 */
class SealedPermit {
  /** Together with the tool, identifies the upstream of the call. */
  readonly tenant: TenantId;
  readonly tool: string | null;
  /**
   * The hash of the judged tool definition. The sender compares it with the definition that the server lists when the
   * call is sent.
   */
  readonly definitionHash: string | null;
  /** The hash of the judged sandbox grant. The process that receives the call must have been started under it. */
  readonly sandboxGrantHash: string | null;
  /**
   * Whether a call that was decided earlier may still be sent. `null` when it was decided just now. An upstream that
   * queues calls checks it before sending. Never rejects.
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

  /** The decided call, to be sent now. Throws on the second call. */
  take(): SealedIntent {
    const intent = this.#intent;
    if (intent === null) throw new Error('This permit has already sent its call');
    this.#intent = null;
    return intent;
  }
}
export type Permit = SealedPermit;

/** Sends a call to one kind of upstream. */
export type Upstream<Request, Answer> = (permit: Permit, request: Request) => Promise<Answer>;

/** The outcome of a call, and the result for its caller. */
export type Ending<Result> = Settlement & { result: Result };

type Effect<Request, Answer, Result> = {
  call: NamedCall;
  /** The additional request data for the upstream. */
  request: Request;
  /** Reads the answer to its end. Its errors are thrown to the caller, after the call is settled with `failed`. */
  receive(answer: Answer, decision: SealedDecision): Ending<Result> | Promise<Ending<Result>>;
  /** The settlement of a call whose upstream or whose `receive` threw. */
  failed: Settlement;
  log: Log;
};

/** A decision, and the outcome of the call if it was allowed and is not a replay. */
export type Performed<Result> =
  | { kind: 'refused'; decision: SealedDecision }
  | { kind: 'replayed'; decision: SealedDecision }
  | {
      kind: 'performed';
      decision: SealedDecision;
      outcome: Outcome;
      result: Result;
      /**
       * `null` when the outcome could not be sealed. If the ledger was unavailable, the outcome is kept and sealed
       * later.
       */
      receipt: StoredReceipt | null;
    };

type Decider = Pick<Boundary, 'decideDispatched' | 'maySendLate' | 'settle'>;

/** Performs calls on one kind of upstream. Routes have no other access to it. */
export type Effects<Request, Answer> = {
  perform<Result>(effect: Effect<Request, Answer, Result>): Promise<Performed<Result>>;
};

/** How long an allowed call waits for the database: longer than a failover takes, and shorter than callers wait. */
const unreadMsMax = 10_000;
const askAgainMs = 250;

/**
 * The one dispatch of every effect. It decides, sends an allowed call once, and settles it. Outcomes that could not be
 * sealed while the ledger was unavailable are kept here, since only this process knows that these calls were sent. The
 * reconciler would treat them as abandoned and release their budgets.
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

  /** Connects an upstream to the boundary. */
  to<Request, Answer>(upstream: Upstream<Request, Answer>): Effects<Request, Answer> {
    return { perform: (effect) => this.#tracked(this.#perform(upstream, effect)) };
  }

  /** ULIDs of the calls that this process may send and has not settled. */
  live(): string[] {
    return [...this.#live];
  }

  /** Resolves when every call in progress has ended. Each has a deadline. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** Tries again to seal the kept outcomes. Never rejects. */
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
    const pending = ask();
    return pending === null ? null : this.#toldInTime(pending, { ask, decision, log });
  }

  /** Repeats the check while the state cannot be read. `false` when the time is over. */
  async #toldInTime(
    pending: Promise<boolean>,
    { ask, decision, log }: { ask: () => Promise<boolean> | null; decision: SealedDecision; log: Log },
  ): Promise<boolean> {
    const giveUpAtMs = performance.now() + this.#unreadMsMax;
    for (let answer: Promise<boolean> | null = pending; ; answer = ask()) {
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

  /** Settles the unsent call as failed, and throws. */
  async #endUnsent(decision: SealedDecision, log: Log): Promise<never> {
    await this.#settleOrKeep(decision, { outcome: 'failed' }, log);
    throw new AppError('UPSTREAM_FAILED', stoppedWhileWaiting);
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

  /** An outcome that cannot be sealed now is logged. It must not replace the call's answer or error. */
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
      // Any other refusal is final: an outcome was already sealed, by this process or by the reconciler.
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

/**
 * Freezes the arguments in place and returns a frozen copy of the call. Neither can change while the call is decided
 * and sent.
 */
function unchangeable(call: NamedCall): NamedCall {
  freeze(call.args);
  return Object.freeze({ ...call });
}

function freeze(value: PlainJson): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

/**
 * Checks the receipt and not the reply around it, since the receipt states what was allowed. Throws unless it covers
 * this exact call.
 */
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
  if (!isThisCall) throw new Error('The sealed decision is not an ALLOW for this call');
  return new SealedPermit({ intent, tenant: call.caller.tenant, definitionHash, sandboxGrantHash, mayStillSend });
}
