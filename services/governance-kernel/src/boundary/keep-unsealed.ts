import { isAppError } from '@countersign/contracts';
import { ulidOf } from './conclude-settlement.ts';
import type { Boundary, GovernedCall, SealedDecision, Settlement } from './governed-call.ts';

export type KeepingBoundary = Boundary & {
  /** ULIDs of the calls that this process was allowed to dispatch and has not settled. */
  live(): string[];
  /** Tries again to seal the outcomes that are kept. Never rejects. */
  sealKept(): Promise<void>;
};

/**
 * Follows the calls that this process dispatches, and keeps outcomes that could not be sealed because the ledger was away. Only this
 * process knows that those calls were sent: to the reconciler they would look abandoned, and their budgets would get back what was used.
 */
export function keepUnsealed({ decide, settle }: Boundary): KeepingBoundary {
  const kept = new Map<SealedDecision, Settlement>();
  const live = new Set<string>();
  const decideAndFollow = async (call: GovernedCall) => {
    const decision = await decide(call);
    if (isDispatched(call, decision)) live.add(ulidOf(decision.reply.decision_id));
    return decision;
  };
  const forget = (decision: SealedDecision) => {
    kept.delete(decision);
    live.delete(ulidOf(decision.reply.decision_id));
  };
  const settleOrKeep = async (decision: SealedDecision, settlement: Settlement) => {
    try {
      const receipt = await settle(decision, settlement);
      forget(decision);
      return receipt;
    } catch (error) {
      // Any other refusal stands: this outcome, or that of the reconciler, is sealed already.
      if (isAppError(error) && error.code === 'RECEIPT_STORE_UNAVAILABLE') kept.set(decision, settlement);
      else forget(decision);
      throw error;
    }
  };
  return {
    decide: decideAndFollow,
    settle: settleOrKeep,
    live: () => [...live],
    sealKept: async () => {
      await Promise.allSettled([...kept].map(([decision, settlement]) => settleOrKeep(decision, settlement)));
    },
  };
}

/** The reply is read only of calls whose route reads it anyway: for the others it stays text. */
function isDispatched({ dispatchedBy, mode }: GovernedCall, decision: SealedDecision): boolean {
  return dispatchedBy === 'kernel' && mode === 'enforce' && !decision.replayed && decision.reply.verdict === 'ALLOW';
}
