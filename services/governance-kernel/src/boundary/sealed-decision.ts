import type { BudgetId, PlainJson } from '@countersign/contracts';
import type { DecisionReply, Outcome, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { GovernedCall } from '../call/governed-call.ts';

/** A decision after its transaction is durable. */
export type SealedDecision = {
  reply: DecisionReply;
  /** The same reply as JSON text. */
  json: string;
  /** X-Gov-Decision-Id, -Verdict, -Reason-Code, -Receipt-Id, -Policy-Hash, -Lamport-Clock. */
  headers: Record<string, string>;
  /** True when the idempotency key had been decided before and this is that answer. */
  replayed: boolean;
  /** The budgets that the call holds until it is settled. */
  held: readonly BudgetId[];
};

export type Settlement = { outcome: Outcome; output?: PlainJson | string | undefined; spentMinor?: number };

/** The one way to a decision. Routes hold nothing else. */
export type Boundary = {
  /** Throws AppError RECEIPT_STORE_UNAVAILABLE when nothing could be committed; then nothing may be dispatched. */
  decide(call: GovernedCall): Promise<SealedDecision>;
  /** Seals the outcome receipt of a call that the kernel dispatched, and settles its reservation. */
  settle(decision: SealedDecision, settlement: Settlement): Promise<StoredReceipt>;
};
