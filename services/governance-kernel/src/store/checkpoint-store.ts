import { Digest, Instant, CheckpointId } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import type { CheckpointModel } from '../generated/prisma/models.ts';
import type { Reader, Transaction, Tx } from './database.ts';

type NewCheckpoint = { id: CheckpointId; size: number; root: Digest; note: string; at: Date };

/**
 * Stores a checkpoint, or returns the one that this size already has: a log never signs two heads of one size. Counts on from the one
 * before it, so that its cost does not grow with the log.
 */
export async function recordCheckpoint(transaction: Transaction, checkpoint: NewCheckpoint): Promise<Checkpoint> {
  const { id, size, root, note, at } = checkpoint;
  return transaction(async (tx) => {
    const previous = await tx.checkpoint.findFirst({ where: { tree_size: { lt: size } }, ...largestFirst });
    const counted = previous === null ? noCount : { from: Number(previous.tree_size), records: previous.record_count };
    const data = {
      checkpoint_id: id,
      tree_size: size,
      root_hash: root,
      record_count: counted.records + (await countRecords(tx, { from: counted.from, below: size })),
      note,
      previous_checkpoint_id: previous?.checkpoint_id ?? null,
      created_at: at,
    };
    await tx.checkpoint.createMany({ data, skipDuplicates: true });
    return checkpointOf(await tx.checkpoint.findUniqueOrThrow({ where: { tree_size: size } }));
  });
}

const noCount = { from: 0, records: 0n };

/** What the log holds in this range stays as it is: sealed entries never change. */
async function countRecords(tx: Tx, { from, below }: { from: number; below: number }): Promise<bigint> {
  const where = { log_index: { gte: from, lt: below }, record: { not: null } };
  return BigInt(await tx.ledgerEntry.count({ where }));
}

export async function findLatestCheckpoint(reader: Reader): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findFirst(largestFirst);
  return row === null ? null : checkpointOf(row);
}

/** The newest one that was signed before an instant. */
export async function findCheckpointBefore(reader: Reader, at: Date): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findFirst({
    where: { created_at: { lt: at } },
    orderBy: [{ created_at: 'desc' }, { tree_size: 'desc' }],
  });
  return row === null ? null : checkpointOf(row);
}

export async function findCheckpoint(reader: Reader, id: string): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findUnique({ where: { checkpoint_id: id } });
  return row === null ? null : checkpointOf(row);
}

/** Newest first; `beforeSize` is the tree size of the last one already seen. */
export async function listCheckpoints(
  reader: Reader,
  { limit, beforeSize }: { limit: number; beforeSize: number | null },
): Promise<Checkpoint[]> {
  const where = beforeSize === null ? {} : { tree_size: { lt: beforeSize } };
  return (await reader.checkpoint.findMany({ where, ...largestFirst, take: limit })).map(checkpointOf);
}

/** Of trees larger than `size`, smallest first. */
export async function listCheckpointsAbove(reader: Reader, size: number, limit: number): Promise<Checkpoint[]> {
  const rows = await reader.checkpoint.findMany({
    where: { tree_size: { gt: size } },
    orderBy: { tree_size: 'asc' },
    take: limit,
  });
  return rows.map(checkpointOf);
}

const largestFirst = { orderBy: { tree_size: 'desc' } } as const;

function checkpointOf(row: CheckpointModel): Checkpoint {
  return {
    checkpoint_id: CheckpointId.parse(row.checkpoint_id),
    tree_size: Number(row.tree_size),
    root_hash: Digest.parse(row.root_hash),
    receipt_count: Number(row.tree_size),
    record_count: Number(row.record_count),
    note: row.note,
    previous_checkpoint_id: CheckpointId.nullable().parse(row.previous_checkpoint_id),
    created_at: Instant.parse(row.created_at.toISOString()),
  };
}
