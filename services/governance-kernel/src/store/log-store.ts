import type { Digest } from '@countersign/contracts';
import type pg from 'pg';

/** How far the log has grown and how far it is covered by a signed checkpoint. */
export type LogReach = { size: number; checkpointed: number };

export async function getLogReach(pool: pg.Pool): Promise<LogReach> {
  const { rows } = await pool.query<{ size: string; checkpointed: string | null }>(
    'SELECT size, (SELECT max(tree_size) FROM checkpoints) AS checkpointed FROM log_head WHERE id = 1',
  );
  const [reach] = rows;
  return { size: Number(reach?.size ?? 0), checkpointed: Number(reach?.checkpointed ?? 0) };
}

export type NodeKey = { level: number; index: number };
export type LogNode = NodeKey & { hash: Uint8Array };

/** Stored subtree roots; keys without a row are left out. */
export async function listLogNodes(pool: pg.Pool, keys: readonly NodeKey[]): Promise<LogNode[]> {
  const { rows } = await pool.query<{ level: number; index: string; hash: Buffer }>(
    `SELECT n.* FROM unnest($1::int[], $2::bigint[]) AS wanted(level, index) JOIN log_nodes n USING (level, index)`,
    [keys.map(({ level }) => level), keys.map(({ index }) => index)],
  );
  return rows.map(({ level, index, hash }) => ({ level, index: Number(index), hash: new Uint8Array(hash) }));
}

export type LogLeaf = { index: number; receiptHash: Digest };

/** Receipt hashes of runs of `width` leaves, each run by its first index. Of all tenants: they are the log's, and say nothing. */
export async function listLogLeaves(pool: pg.Pool, starts: readonly number[], width: number): Promise<LogLeaf[]> {
  const { rows } = await pool.query<{ log_index: string; receipt_hash: Digest }>(
    `SELECT l.log_index, l.receipt_hash FROM unnest($1::bigint[]) AS run(start)
       JOIN ledger l ON l.log_index >= run.start AND l.log_index < run.start + $2 ORDER BY l.log_index`,
    [starts, width],
  );
  return rows.map(({ log_index, receipt_hash }) => ({ index: Number(log_index), receiptHash: receipt_hash }));
}
