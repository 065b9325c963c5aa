import { isAppError } from '@countersign/contracts';
import type { Boundary, SealedDecision, Settlement } from './governed-call.ts';

export type KeepingBoundary = Boundary & {
  /** Tries again to seal the outcomes that are kept. Never rejects. */
  sealKept(): Promise<void>;
};

/**
 * Keeps outcomes that could not be sealed because the ledger was away. Only this process knows that those calls were sent: to
 * the reconciler they would look abandoned, and their budgets would get back what was used.
 */
export function keepUnsealed({ decide, settle }: Boundary): KeepingBoundary {
  const kept = new Map<SealedDecision, Settlement>();
  const settleOrKeep = async (decision: SealedDecision, settlement: Settlement) => {
    try {
      const receipt = await settle(decision, settlement);
      kept.delete(decision);
      return receipt;
    } catch (error) {
      // Any other refusal stands: this outcome, or that of the reconciler, is sealed already.
      if (isAppError(error) && error.code === 'RECEIPT_STORE_UNAVAILABLE') kept.set(decision, settlement);
      else kept.delete(decision);
      throw error;
    }
  };
  return {
    decide,
    settle: settleOrKeep,
    sealKept: async () => {
      await Promise.allSettled([...kept].map(([decision, settlement]) => settleOrKeep(decision, settlement)));
    },
  };
}
