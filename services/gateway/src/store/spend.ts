import type { Sql } from './sql.ts';

type Place = { workspaceId: string; month: string };

/** Sets money aside before a call. False, and nothing changed, when the month's budget cannot carry it. */
export async function reserveSpend(
  tx: Sql,
  place: Place,
  amount: { micros: number; budgetMicros: number },
): Promise<boolean> {
  await tx.query('INSERT INTO spend_months (workspace_id, month) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    place.workspaceId,
    place.month,
  ]);
  const { rowCount } = await tx.query(
    `UPDATE spend_months SET reserved_micros = reserved_micros + $3
      WHERE workspace_id = $1 AND month = $2 AND spent_micros + reserved_micros + $3 <= $4`,
    [place.workspaceId, place.month, amount.micros, amount.budgetMicros],
  );
  return rowCount === 1;
}

/** Replaces a reservation by what the call really cost. */
export async function settleSpend(tx: Sql, place: Place, amount: { reserved: number; spent: number }): Promise<void> {
  await tx.query(
    `UPDATE spend_months SET reserved_micros = greatest(0, reserved_micros - $3), spent_micros = spent_micros + $4
      WHERE workspace_id = $1 AND month = $2`,
    [place.workspaceId, place.month, amount.reserved, amount.spent],
  );
}
