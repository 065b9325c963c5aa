import type { BudgetId, Digest, Instant } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { Outcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Demand } from '@countersign/policy';
import { outcomeStatement, ulidOf } from '@countersign/receipts';
import { budgets } from '../budgets/budgets.ts';
import { settleReservation, type Reservation } from '../budgets/reserve.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { drop, put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import { dispatches, type Dispatch } from './dispatches.ts';

type PreparedSettlement = {
  ulid: string;
  nowMs: number;
  /** The receipt of the decision that is settled. */
  decided: ReceiptPayload;
  outcome: Outcome;
  outputHash: Digest | null;
  spentMinor: number | null;
  /** Nobody lives who could say whether the call was sent. */
  abandoned?: true;
};

const nothing = { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 };

/** Step 7 of the cycle: the outcome receipt, chained to its decision, and the end of the reservation. Throws ILLEGAL_TRANSITION when settled. */
export function concludeSettlement(batch: LedgerBatch, prepared: PreparedSettlement): SealedEntry {
  const dispatch = batch.row(dispatches, ulidOf(prepared.decided.decision_id));
  if (dispatch === null)
    throw new AppError('ILLEGAL_TRANSITION', 'This call is settled already', { details: { allowed: [] } });
  const { ulid, nowMs, decided, outcome, outputHash } = prepared;
  const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const statement = outcomeStatement(decided, { ulid, at, outcome, output_hash: outputHash ?? undefined });
  return batch.seal(statement, () => ({
    changes: [drop(dispatches, dispatch), ...released(batch, dispatch, prepared)],
  }));
}

/** The sets that a settlement looks at; what a call holds is known from its decision on. */
export function wantedForSettlement({ tenant_id, decision_id }: ReceiptPayload, held: readonly BudgetId[]): Wanted[] {
  const ofBudgets = held.map((id) => wanted(budgets, { tenant: tenant_id, id }));
  return [wanted(dispatches, ulidOf(decision_id)), ...ofBudgets];
}

function released(batch: LedgerBatch, { tenant, reservations }: Dispatch, prepared: PreparedSettlement): Change[] {
  return reservations.flatMap((reservation) => {
    const budget = batch.row(budgets, { tenant, id: reservation.budget_id });
    if (budget === null) return []; // the budget was deleted since; nothing is left to release
    return [put(budgets, settleReservation(budget, reservation, used(reservation, prepared)))];
  });
}

/**
 * A call that was sent counts in full, however it ended: also one that never answered may have taken effect. Only one that was
 * abandoned, and so perhaps never sent, gives back what it held.
 */
function used({ demand }: Reservation, { abandoned, spentMinor }: PreparedSettlement): Demand {
  if (abandoned) return nothing;
  return { ...demand, spend_minor: spentMinor === null ? demand.spend_minor : Math.max(0, spentMinor) };
}
