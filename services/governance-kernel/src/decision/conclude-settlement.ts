import { instantOf, type BudgetId, type Digest } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { Outcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import { outcomeStatement, ulidOf } from '@countersign/receipts';
import { budgets } from '../controls/budgets/budgets.ts';
import { budgetKey } from '../controls/budgets/installation-ceiling.ts';
import type { BudgetAmounts, BudgetRow } from '../controls/budgets/budget-row.ts';
import { heldBy } from '../controls/budgets/reservation.ts';
import { settleReservation } from '../controls/budgets/reserve.ts';
import { inWindow, noAmounts } from '../controls/budgets/window.ts';
import { budgetThresholdEvents } from '../events.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { drop, put, wanted, type Wanted } from '../ledger/control.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import { dispatches, type Dispatch } from './dispatches.ts';

/** The outcome of a call with the hash of its output. An uncertain outcome has no output. */
export type EndedWith =
  { outcome: Exclude<Outcome, 'uncertain'>; outputHash: Digest | null } | { outcome: 'uncertain'; outputHash: null };

type PreparedSettlement = EndedWith & {
  ulid: string;
  nowMs: number;
  /** The receipt of the decision that is settled. */
  decided: ReceiptPayload;
  /** The actual spend. With `null`, which means unknown, the reserved amount counts, unless the call was abandoned. */
  spentMicros: bigint | null;
  newEvent: NewEvent;
  /** Set when the process died, so that it is unknown whether the call was sent. */
  abandoned?: true;
};

/**
 * Step 7 of the cycle: the outcome receipt, linked to its decision, and the end of the reservation. Throws
 * ILLEGAL_TRANSITION when the call is already settled.
 */
export function concludeSettlement(batch: LedgerBatch, prepared: PreparedSettlement): SealedEntry {
  const dispatch = batch.row(dispatches, ulidOf(prepared.decided.decision_id));
  if (dispatch === null)
    throw new AppError('ILLEGAL_TRANSITION', 'This call is already settled', { details: { allowed: [] } });
  const { ulid, nowMs, decided, outcome, outputHash } = prepared;
  const at = instantOf(nowMs);
  const ending = { ulid, at, outcome, output_hash: outputHash ?? undefined, spend_micros: countedSpend(prepared) };
  const statement = outcomeStatement(decided, ending);
  const { before, after } = released(batch, dispatch, prepared);
  return batch.seal(statement, () => ({
    changes: [drop(dispatches, dispatch), ...after.map((budget) => put(budgets, budget))],
    events: budgetThresholdEvents(prepared, { before, after, nowMs }),
  }));
}

/** The sets that a settlement reads. The reservations of a call are known from its decision. */
export function wantedForSettlement(
  { tenant_id, decision_id }: ReceiptPayload,
  reserved: readonly BudgetId[],
): Wanted[] {
  const ofBudgets = reserved.map((id) => wanted(budgets, budgetKey(tenant_id, id)));
  return [wanted(dispatches, ulidOf(decision_id)), ...ofBudgets];
}

type Released = { before: BudgetRow[]; after: BudgetRow[] };

/**
 * The budgets before and after the settlement, in their current windows. Reservations move to the next window, so usage
 * counts in the window in which the call is settled.
 */
function released(batch: LedgerBatch, { tenant, reservations }: Dispatch, prepared: PreparedSettlement): Released {
  const settled = reservations.flatMap((reservation) => {
    const budget = batch.row(budgets, budgetKey(tenant, reservation.budget_id));
    if (budget === null) return []; // the budget was deleted since; nothing is left to release
    const [before, waiting] = [inWindow(budget, prepared.nowMs), heldBy(reservation)];
    return [{ before, after: settleReservation(before, waiting, used(waiting, prepared)) }];
  });
  return { before: settled.map(({ before }) => before), after: settled.map(({ after }) => after) };
}

/**
 * A call counts however it ended, since a call without an answer may have taken effect. Its spend is the reported
 * amount, or else the reserved amount. Only an abandoned call, which may never have been sent, counts nothing.
 */
function used(reserved: BudgetAmounts, { abandoned, spentMicros }: PreparedSettlement): BudgetAmounts {
  if (abandoned) return noAmounts;
  return { ...reserved, spend_micros: spentMicros ?? reserved.spend_micros };
}

/** The counted spend of the outcome. Absent when its decision states none. */
function countedSpend({ decided, abandoned, spentMicros }: PreparedSettlement): string | undefined {
  if (decided.spend_micros === undefined) return undefined;
  if (abandoned) return '0';
  return spentMicros === null ? decided.spend_micros : String(spentMicros);
}
