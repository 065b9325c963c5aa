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
  /** The response headers of the decision: `x-gov-…`, and `idempotency-replayed` for a replay. */
  headers: Record<string, string>;
  /** `true` when the idempotency key was decided before and this is that answer. */
  replayed: boolean;
  /** The decided intent; `null` for a replay. */
  intent: SealedIntent | null;
  /** The pinned hash of the registered tool that was judged. `null` without such a tool, and for a replay. */
  definitionHash: string | null;
  /** The hash of the sandbox grant that was judged. `null` when none applied, and for a replay. */
  sandboxGrantHash: string | null;
  /** The budgets that the call reserves until it is settled. */
  reserved: readonly BudgetId[];
  /** The time of the decision on a monotonic clock. 0 for a replay. */
  concludedAtMs: number;
};

/** The outcome of a dispatched call, without its usage. */
export type Ended =
  | { outcome: Exclude<Outcome, 'uncertain'>; output?: PlainJson | string | undefined }
  /** The outcome is unknown, so it has no output. */
  | { outcome: 'uncertain'; output?: undefined };
export type Settlement = Ended & { spentMicros?: bigint };

/**
 * Decides the calls of one answer. They are sealed in order. They are submitted together, or one after another when the
 * policy reads relations. If one fails, rejects only after all others are answered.
 */
type DecideInOrder = (calls: readonly GovernedCall[]) => Promise<SealedDecision[]>;

/** Decides calls and seals the decisions. Routes have no other way to decide a call. */
export type Boundary = {
  /** Throws AppError RECEIPT_STORE_UNAVAILABLE when nothing could be committed; then nothing may be dispatched. */
  decide(call: GovernedCall): Promise<SealedDecision>;
  /** Decides a call for execution by the dispatch, which alone can create the claim. */
  decideDispatched(call: NamedCall, claim: DispatchClaim): Promise<SealedDecision>;
  /** Decides the calls of one answer. They share the registry lookups and the time limit of the lookups. */
  forOneAnswer(): DecideInOrder;
  /**
   * Checks calls of one answer that were released before, in order. Seals a refusal for each call that a stop has
   * reached since. For the others it returns `null`, and decides and consumes nothing. Throws like `decide`, and then
   * nothing may be repeated.
   */
  refuseStopped(calls: readonly GovernedCall[]): Promise<(SealedDecision | null)[]>;
  /**
   * Whether a call that was decided earlier may still be sent. A paused process may resume after a new fence was set,
   * or after the caller's credential has ended. `null` when it was decided just now. Rejects when the state is unknown.
   */
  maySendLate(decision: SealedDecision, caller: Caller): Promise<boolean> | null;
  /** Seals the outcome receipt of a call that the kernel dispatched, and settles its reservation. */
  settle(decision: SealedDecision, settlement: Settlement): Promise<StoredReceipt>;
};
