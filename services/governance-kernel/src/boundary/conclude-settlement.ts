import type { Instant } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Demand } from '@countersign/policy';
import { settleReservation } from '../budgets/reserve.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import type { DispatchRow, Reservation } from './dispatch-row.ts';
import { receiptIdOf } from './statement-of.ts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import type { Digest } from '@countersign/contracts';

export type PreparedSettlement = {
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
  const dispatch = batch.dispatch(ulidOf(prepared.decided.decision_id));
  if (dispatch === null || dispatch.state === 'settled') {
    throw new AppError('ILLEGAL_TRANSITION', 'This call is settled already', { details: { allowed: [] } });
  }
  release(batch, dispatch, prepared);
  dispatch.state = 'settled';
  batch.changedDispatches.add(dispatch);
  return batch.append({
    ulid: prepared.ulid,
    receipt: outcomeReceipt(prepared),
    record: { hash: prepared.decided.record_hash },
  });
}

/** `dec_<ulid>` → ULID. */
export function ulidOf(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

function release(batch: LedgerBatch, dispatch: DispatchRow, prepared: PreparedSettlement): void {
  for (const reservation of dispatch.reservations) {
    const budget = batch.budget(dispatch.tenant, reservation.budget_id);
    if (budget === null) continue; // the budget was deleted since; nothing is left to release
    settleReservation(budget, reservation, used(reservation, prepared));
    batch.changedBudgets.add(budget);
  }
}

/**
 * A call that was sent counts in full, however it ended: also one that never answered may have taken effect. Only one that was
 * abandoned, and so perhaps never sent, gives back what it held.
 */
function used({ demand }: Reservation, { abandoned, spentMinor }: PreparedSettlement): Demand {
  if (abandoned) return nothing;
  return { ...demand, spend_minor: spentMinor === null ? demand.spend_minor : Math.max(0, spentMinor) };
}

function outcomeReceipt({ ulid, nowMs, decided, outcome, outputHash }: PreparedSettlement) {
  const { type, lamport_clock, prev_hash, record_hash, ...said } = decided;
  void [type, lamport_clock, prev_hash, record_hash]; // the outcome gets its own place in the chain
  return {
    ...said,
    receipt_id: receiptIdOf(ulid),
    kind: 'outcome' as const,
    outcome,
    ...(outputHash === null ? {} : { output_hash: outputHash }),
    decision_receipt_id: decided.receipt_id,
    issued_at: new Date(nowMs).toISOString() as Instant, // toISOString writes exactly this form
  };
}
