import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type pg from 'pg';

/** Receipts of decisions whose dispatch is open past its deadline, oldest first. Over all tenants: the reconciler serves the kernel. */
export async function listOverdueDispatches(pool: pg.Pool, now: Date, limit: number): Promise<ReceiptPayload[]> {
  const { rows } = await pool.query<{ payload: string }>(
    `SELECT l.payload FROM dispatches d JOIN ledger l ON l.ulid = d.ulid
      WHERE d.state = 'open' AND d.deadline_at < $1 ORDER BY d.deadline_at LIMIT $2`,
    [now, limit],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as ReceiptPayload); // sealed by this kernel
}
