import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type pg from 'pg';
import type { Abandoned } from '../boundary/settle-abandoned.ts';
import type { Reservation } from '../budgets/reservation.ts';

export type OverdueQuery = { now: Date; limit: number; except: readonly string[] };

/**
 * Decisions whose call is past its deadline without an outcome, oldest first, but for the ULIDs in `except`. Over all tenants: the
 * reconciler serves the kernel.
 */
export async function listOverdueDispatches(pool: pg.Pool, { now, limit, except }: OverdueQuery): Promise<Abandoned[]> {
  const { rows } = await pool.query<{ payload: string; reservations: Reservation[] }>(
    `SELECT l.payload, d.reservations FROM dispatches d JOIN ledger l ON l.ulid = d.ulid
      WHERE d.deadline_at < $1 AND d.ulid <> ALL ($3) ORDER BY d.deadline_at LIMIT $2`,
    [now, limit, except],
  );
  return rows.map(({ payload, reservations }) => ({
    decided: JSON.parse(payload) as ReceiptPayload, // sealed by this kernel
    held: reservations.map(({ budget_id }) => budget_id),
  }));
}
