import type { CheckpointId, Digest, Instant } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { AppError } from '@countersign/contracts';
import type pg from 'pg';

type Row = {
  checkpoint_id: CheckpointId;
  tree_size: string;
  root_hash: Digest;
  record_count: string;
  note: string;
  previous_checkpoint_id: CheckpointId | null;
  created_at: Date;
};

/**
 * Stores a checkpoint, or returns the one that this size already has: a log never signs two heads of one size. Counts on from the one
 * before it, so that its cost does not grow with the log.
 */
export async function recordCheckpoint(
  pool: pg.Pool,
  checkpoint: { id: CheckpointId; size: number; root: Digest; note: string; at: Date },
): Promise<Checkpoint> {
  const { rows } = await pool.query<Row>(
    `WITH previous AS (SELECT * FROM checkpoints WHERE tree_size < $2 ORDER BY tree_size DESC LIMIT 1),
          added AS (SELECT count(*) AS records FROM ledger
                     WHERE log_index >= coalesce((SELECT tree_size FROM previous), 0) AND log_index < $2 AND record IS NOT NULL)
     INSERT INTO checkpoints (checkpoint_id, tree_size, root_hash, record_count, note, previous_checkpoint_id, created_at)
     SELECT $1, $2, $3, added.records + coalesce(previous.record_count, 0), $4, previous.checkpoint_id, $5
       FROM added LEFT JOIN previous ON true
     ON CONFLICT (tree_size) DO NOTHING RETURNING *`,
    [checkpoint.id, checkpoint.size, checkpoint.root, checkpoint.note, checkpoint.at],
  );
  const [stored] = rows;
  return stored === undefined ? getCheckpointOfSize(pool, checkpoint.size) : checkpointOf(stored);
}

async function getCheckpointOfSize(pool: pg.Pool, size: number): Promise<Checkpoint> {
  const { rows } = await pool.query<Row>('SELECT * FROM checkpoints WHERE tree_size = $1', [size]);
  const [row] = rows;
  if (row === undefined) throw new AppError('NOT_FOUND', 'There is no such checkpoint');
  return checkpointOf(row);
}

export async function findLatestCheckpoint(pool: pg.Pool): Promise<Checkpoint | null> {
  const { rows } = await pool.query<Row>('SELECT * FROM checkpoints ORDER BY tree_size DESC LIMIT 1');
  return rows[0] === undefined ? null : checkpointOf(rows[0]);
}

/** The newest one that was signed before an instant. */
export async function findCheckpointBefore(pool: pg.Pool, at: Date): Promise<Checkpoint | null> {
  const { rows } = await pool.query<Row>(
    'SELECT * FROM checkpoints WHERE created_at < $1 ORDER BY created_at DESC, tree_size DESC LIMIT 1',
    [at],
  );
  return rows[0] === undefined ? null : checkpointOf(rows[0]);
}

export async function findCheckpoint(pool: pg.Pool, id: string): Promise<Checkpoint | null> {
  const { rows } = await pool.query<Row>('SELECT * FROM checkpoints WHERE checkpoint_id = $1', [id]);
  return rows[0] === undefined ? null : checkpointOf(rows[0]);
}

/** Newest first; `beforeSize` is the tree size of the last one already seen. */
export async function listCheckpoints(
  pool: pg.Pool,
  { limit, beforeSize }: { limit: number; beforeSize: number | null },
): Promise<Checkpoint[]> {
  const { rows } = await pool.query<Row>(
    'SELECT * FROM checkpoints WHERE $2::bigint IS NULL OR tree_size < $2 ORDER BY tree_size DESC LIMIT $1',
    [limit, beforeSize],
  );
  return rows.map(checkpointOf);
}

/** Of trees larger than `size`, smallest first. */
export async function listCheckpointsAbove(pool: pg.Pool, size: number, limit: number): Promise<Checkpoint[]> {
  const { rows } = await pool.query<Row>('SELECT * FROM checkpoints WHERE tree_size > $1 ORDER BY tree_size LIMIT $2', [
    size,
    limit,
  ]);
  return rows.map(checkpointOf);
}

function checkpointOf(row: Row): Checkpoint {
  return {
    checkpoint_id: row.checkpoint_id,
    tree_size: Number(row.tree_size),
    root_hash: row.root_hash,
    receipt_count: Number(row.tree_size),
    record_count: Number(row.record_count),
    note: row.note,
    previous_checkpoint_id: row.previous_checkpoint_id,
    created_at: row.created_at.toISOString() as Instant, // toISOString writes exactly this form
  };
}
