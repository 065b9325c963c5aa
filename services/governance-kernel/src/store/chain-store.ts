import type { Digest, SessionId, TenantId } from '@countersign/contracts';
import type pg from 'pg';

type ChainScope = { tenant: TenantId; session: SessionId };

/** Where a chain ends now; null where nothing was sealed in the session. */
export async function findChainEnd(
  pool: pg.Pool,
  { tenant, session }: ChainScope,
): Promise<{ lamport: number; receiptHash: Digest } | null> {
  const { rows } = await pool.query<{ lamport_clock: string; receipt_hash: Digest }>(
    'SELECT lamport_clock, receipt_hash FROM session_heads WHERE tenant_id = $1 AND session_id = $2 AND lamport_clock > 0',
    [tenant, session],
  );
  const [row] = rows;
  return row === undefined ? null : { lamport: Number(row.lamport_clock), receiptHash: row.receipt_hash };
}

/** A link of a chain in the texts that were sealed: nothing is read and written again on its way to a verifier. */
export type ChainLink = {
  logIndex: number;
  lamport: number;
  payload: string;
  keyId: string;
  signature: string;
  record: string | null;
};

type Row = {
  log_index: string;
  lamport_clock: string;
  payload: string;
  key_id: string;
  signature: string;
  record: string | null;
};

/** One session's chain in its own order, between two places in it, both included. */
export async function listChain(
  pool: pg.Pool,
  { tenant, session }: ChainScope,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<ChainLink[]> {
  const { rows } = await pool.query<Row>(
    `SELECT log_index, lamport_clock, payload, key_id, signature, record FROM ledger
      WHERE tenant_id = $1 AND session_id = $2 AND lamport_clock BETWEEN $3 AND $4 ORDER BY lamport_clock LIMIT $5`,
    [tenant, session, from, to, limit],
  );
  return rows.map(({ log_index, lamport_clock, key_id, ...row }) => ({
    ...row,
    logIndex: Number(log_index),
    lamport: Number(lamport_clock),
    keyId: key_id,
  }));
}
