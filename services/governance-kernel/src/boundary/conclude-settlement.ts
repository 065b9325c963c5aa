import type { BudgetId, Digest, Instant } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { Outcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import { outcomeStatement, ulidOf } from '@countersign/receipts';
import { budgets } from '../budgets/budgets.ts';
import { budgetKey } from '../budgets/installation-ceiling.ts';
import type { BudgetAmounts, BudgetRow } from '../budgets/budget-row.ts';
import { heldBy } from '../budgets/reservation.ts';
import { settleReservation } from '../budgets/reserve.ts';
import { inWindow, noAmounts } from '../budgets/window.ts';
import { budgetThresholdEvents } from '../events.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { drop, put, wanted, type Wanted } from '../ledger/control.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import { dispatches, type Dispatch } from './dispatches.ts';

/** An unknown outcome has no output. */
export type EndedWith =
  { outcome: Exclude<Outcome, 'uncertain'>; outputHash: Digest | null } | { outcome: 'uncertain'; outputHash: null };

type PreparedSettlement = EndedWith & {
  ulid: string;
  nowMs: number;
  /** The receipt of the decision that is settled. */
  decided: ReceiptPayload;
  /** Null: as much as was held. */
  spentMicros: bigint | null;
  newEvent: NewEvent;
  /** The process died, so it is unknown whether the call was sent. */
  abandoned?: true;
};

/** Step 7 of the cycle: the outcome receipt, chained to its decision, and the end of the reservation. Throws ILLEGAL_TRANSITION when settled. */
export function concludeSettlement(batch: LedgerBatch, prepared: PreparedSettlement): SealedEntry {
  const dispatch = batch.row(dispatches, ulidOf(prepared.decided.decision_id));
  if (dispatch === null)
    throw new AppError('ILLEGAL_TRANSITION', 'This call is settled already', { details: { allowed: [] } });
  const { ulid, nowMs, decided, outcome, outputHash } = prepared;
  const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const ending = { ulid, at, outcome, output_hash: outputHash ?? undefined, spend_micros: countedSpend(prepared) };
  const statement = outcomeStatement(decided, ending);
  const { before, after } = released(batch, dispatch, prepared);
  return batch.seal(statement, () => ({
    changes: [drop(dispatches, dispatch), ...after.map((budget) => put(budgets, budget))],
    events: budgetThresholdEvents(prepared, { before, after, nowMs }),
  }));
}

/** The sets that a settlement looks at; what a call holds is known from its decision on. */
export function wantedForSettlement({ tenant_id, decision_id }: ReceiptPayload, held: readonly BudgetId[]): Wanted[] {
  const ofBudgets = held.map((id) => wanted(budgets, budgetKey(tenant_id, id)));
  return [wanted(dispatches, ulidOf(decision_id)), ...ofBudgets];
}

type Released = { before: BudgetRow[]; after: BudgetRow[] };

/** In the window of now: what is settled after a window's end was reserved in this one until now. */
function released(batch: LedgerBatch, { tenant, reservations }: Dispatch, prepared: PreparedSettlement): Released {
  const settled = reservations.flatMap((reservation) => {
    const budget = batch.row(budgets, budgetKey(tenant, reservation.budget_id));
    if (budget === null) return []; // the budget was deleted since; nothing is left to release
    const [before, held] = [inWindow(budget, prepared.nowMs), heldBy(reservation)];
    return [{ before, after: settleReservation(before, held, used(held, prepared)) }];
  });
  return { before: settled.map(({ before }) => before), after: settled.map(({ after }) => after) };
}

/**
 * A call that was sent counts in full, however it ended: also one that never answered may have taken effect. Only one that was
 * abandoned, and so perhaps never sent, gives back what it held.
 */
function used(held: BudgetAmounts, { abandoned, spentMicros }: PreparedSettlement): BudgetAmounts {
  if (abandoned) return noAmounts;
  return { ...held, spend_micros: spentMicros ?? held.spend_micros };
}

/** The counted spend of the outcome; absent where its decision states none. */
function countedSpend({ decided, abandoned, spentMicros }: PreparedSettlement): string | undefined {
  if (decided.spend_micros === undefined) return undefined;
  if (abandoned) return '0';
  return spentMicros === null ? decided.spend_micros : String(spentMicros);
}
