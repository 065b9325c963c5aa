import type { BudgetAmounts, BudgetRow } from './budget-row.ts';

/**
 * The amounts that a dispatched call reserves in a budget until it is settled. The column is JSON, so money is text.
 */
export type Reservation = {
  readonly budget_id: BudgetRow['id'];
  readonly demand: Omit<BudgetAmounts, 'spend_micros'> & { readonly spend_micros: string };
};

export function reservationOf(budget_id: BudgetRow['id'], { spend_micros, ...counted }: BudgetAmounts): Reservation {
  return { budget_id, demand: { ...counted, spend_micros: String(spend_micros) } };
}

export function heldBy({ demand: { spend_micros, ...counted } }: Reservation): BudgetAmounts {
  return { ...counted, spend_micros: BigInt(spend_micros) };
}
