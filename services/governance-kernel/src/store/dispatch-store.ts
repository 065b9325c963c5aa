import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type pg from 'pg';

export type OverdueQuery = { now: Date; limit: number; except: readonly string[] };

/**
 * Receipts of decisions whose dispatch is open past its deadline, oldest first, but for the ULIDs in `except`. Over all tenants: the
 * reconciler serves the kernel.
 */
export async function listOverdueDispatches(
  pool: pg.Pool,
  { now, limit, except }: OverdueQuery,
): Promise<ReceiptPayload[]> {
  const { rows } = await pool.query<{ payload: string }>(
    `SELECT l.payload FROM dispatches d JOIN ledger l ON l.ulid = d.ulid
      WHERE d.state = 'open' AND d.deadline_at < $1 AND d.ulid <> ALL ($3) ORDER BY d.deadline_at LIMIT $2`,
    [now, limit, except],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as ReceiptPayload); // sealed by this kernel
}
