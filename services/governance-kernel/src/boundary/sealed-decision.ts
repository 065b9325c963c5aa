import type { BudgetId, PlainJson } from '@countersign/contracts';
import type { DecisionReply, Outcome, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Caller, GovernedCall, NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { DispatchClaim } from './dispatch.ts';

/** A decision after its transaction is durable. */
export type SealedDecision = {
  reply: DecisionReply;
  /** The same reply as JSON text. */
  json: string;
  /** X-Gov-Decision-Id, -Verdict, -Reason-Code, -Receipt-Id, -Policy-Hash, -Lamport-Clock. */
  headers: Record<string, string>;
  /** True when the idempotency key had been decided before and this is that answer. */
  replayed: boolean;
  /** The decided intent; `null` for a replay. */
  intent: SealedIntent | null;
  /** The pin that the call of a registered tool was judged by; null: no such tool, or no ALLOW of now. */
  definitionHash: string | null;
  /** The sandbox grant that the call was judged by. `null` when none held. */
  sandboxGrantHash: string | null;
  /** The budgets that the call holds until it is settled. */
  held: readonly BudgetId[];
  /** When it was decided, on a clock that only rises; 0 for a replay. */
  concludedAtMs: number;
};

/** How a dispatched call ended, without what it used. */
export type Ended =
  | { outcome: Exclude<Outcome, 'uncertain'>; output?: PlainJson | string | undefined }
  /** Nobody knows what came of it, so it has no output. */
  | { outcome: 'uncertain'; output?: undefined };
export type Settlement = Ended & { spentMicros?: bigint };

/** Decides calls of one answer: handed over at once, sealed in their order. Rejects when all of them are answered. */
type DecideInOrder = (calls: readonly GovernedCall[]) => Promise<SealedDecision[]>;

/** The one way to a decision. Routes hold nothing else. */
export type Boundary = {
  /** Throws AppError RECEIPT_STORE_UNAVAILABLE when nothing could be committed; then nothing may be dispatched. */
  decide(call: GovernedCall): Promise<SealedDecision>;
  /** Decides a call that the dispatch is to perform. Only the dispatch has the claim to it. */
  decideDispatched(call: NamedCall, claim: DispatchClaim): Promise<SealedDecision>;
  /** The queries of servers about tools, and their time, are shared by all calls of the answer. */
  forOneAnswer(): DecideInOrder;
  /**
   * Looks again at calls of one answer that were released before. In their order: a sealed refusal for each call that a
   * stop reached since. For the others it returns `null`, decides nothing and takes nothing. Throws as `decide` does,
   * and then nothing may be told again.
   */
  refuseStopped(calls: readonly GovernedCall[]): Promise<(SealedDecision | null)[]>;
  /**
   * Whether a call may still be sent that was decided a while ago. A process that stood still wakes up behind new
   * fences, or without its caller's credential. Null: it was decided just now. Rejects when it is unknown.
   */
  maySendLate(decision: SealedDecision, caller: Caller): Promise<boolean> | null;
  /** Seals the outcome receipt of a call that the kernel dispatched, and settles its reservation. */
  settle(decision: SealedDecision, settlement: Settlement): Promise<StoredReceipt>;
};
