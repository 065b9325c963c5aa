import { Digest, Instant, CheckpointId } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { CheckpointModel } from '../generated/prisma/models.ts';
import type { Reader, Transaction, Tx } from './database.ts';

/** `noteAt` returns the signed note of the head, dated at an instant. */
export type NewCheckpoint = { id: CheckpointId; size: number; root: Digest; at: Date; noteAt(at: Date): string };

/**
 * Signs and stores a checkpoint, or returns the one of this size, since a log never signs two heads of one size.
 * Replicas take turns, so times do not decrease with size although the clocks of replicas differ. The count of records
 * continues from the previous checkpoint, so its cost does not grow with the log.
 */
export async function recordCheckpoint(transaction: Transaction, checkpoint: NewCheckpoint): Promise<Checkpoint> {
  const { id, size, root, at, noteAt } = checkpoint;
  return transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('the next checkpoint', 0))`;
    const existing = await tx.checkpoint.findUnique({ where: { tree_size: size } });
    if (existing !== null) return checkpointOf(existing);
    const previous = await tx.checkpoint.findFirst({ where: { tree_size: { lt: size } }, ...largestFirst });
    const next = await tx.checkpoint.findFirst({ where: { tree_size: { gt: size } }, orderBy: { tree_size: 'asc' } });
    const dated = datedBetween(at, { previous: previous?.created_at, next: next?.created_at });
    const counted = previous === null ? noCount : { from: Number(previous.tree_size), records: previous.record_count };
    const data = {
      checkpoint_id: id,
      tree_size: size,
      root_hash: root,
      record_count: counted.records + (await countRecords(tx, { from: counted.from, below: size })),
      note: noteAt(dated),
      previous_checkpoint_id: previous?.checkpoint_id ?? null,
      created_at: dated,
    };
    return checkpointOf(await tx.checkpoint.create({ data }));
  });
}

/**
 * The time of a new head lies between the times of the next smaller and the next larger tree. A smaller tree's time
 * that is more than `headSkewMaxMs` ahead came from a wrong clock, and is ignored.
 */
function datedBetween(at: Date, near: { previous: Date | undefined; next: Date | undefined }): Date {
  const { previous = at, next } = near;
  const aheadMs = previous.getTime() - at.getTime();
  const dated = aheadMs > 0 && aheadMs <= headSkewMaxMs ? previous : at;
  return next !== undefined && next < dated ? next : dated;
}

const noCount = { from: 0, records: 0n };

/** Counts the records of the log in this range, which never change. */
async function countRecords(tx: Tx, { from, below }: { from: number; below: number }): Promise<bigint> {
  const where = { log_index: { gte: from, lt: below }, record: { not: null } };
  return BigInt(await tx.ledgerEntry.count({ where }));
}

export async function findLatestCheckpoint(reader: Reader): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findFirst(largestFirst);
  return row === null ? null : checkpointOf(row);
}

/** The smallest checkpoint of a larger tree. */
export async function findCheckpointAbove(reader: Reader, size: number): Promise<Checkpoint | null> {
  return (await listCheckpointsAbove(reader, size, 1))[0] ?? null;
}

/** The checkpoint of exactly this size. */
export async function findCheckpointOfSize(reader: Reader, size: number): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findUnique({ where: { tree_size: size } });
  return row === null ? null : checkpointOf(row);
}

/** A key of the log by the id in its signatures, and the first instant at which its signatures no longer count. */
export type HeadSigner = { hint: string; until: Date | null };

/** Selects heads dated before an instant. `below`: the exclusive limit of tree sizes, or `null` for none. */
export type HeadPlace = { before: Date; below: number | null };

/**
 * The clocks of two replicas differ by at most 40 s, and the rest is a margin for slow replicas. In logs of earlier
 * versions, heads of smaller trees may have times this much later than heads of larger trees.
 */
const headSkewMaxMs = 60_000;

/**
 * The largest head of each key at that place, largest first. For each key, only heads within a minute before its
 * newest are read: clocks differ, so the newest need not be the largest. Heads of other keys and later heads of the
 * key are not read. `OFFSET 0` makes PostgreSQL select the heads of that minute first, without the index by size.
 */
export async function listLargestHeads(
  reader: Reader,
  signers: readonly HeadSigner[],
  { before, below }: HeadPlace,
): Promise<Checkpoint[]> {
  const hints = signers.map(({ hint }) => hint);
  const ends = signers.map(({ until }) => (until !== null && until < before ? until : before).toISOString());
  const most = below ?? Number.MAX_SAFE_INTEGER;
  const rows = await reader.$queryRaw`
    SELECT head.checkpoint_id, head.tree_size, head.root_hash, head.record_count, head.note, head.previous_checkpoint_id, head.created_at
      FROM unnest(${hints}::text[], ${ends}::timestamptz[]) AS key (hint, ends)
     CROSS JOIN LATERAL (
       SELECT created_at FROM checkpoints
        WHERE note_key_hint(note) = key.hint AND created_at < key.ends AND tree_size < ${most}
        ORDER BY created_at DESC, tree_size DESC LIMIT 1) AS newest
     CROSS JOIN LATERAL (
       SELECT max(near.tree_size) AS tree_size FROM (
         SELECT tree_size FROM checkpoints
          WHERE note_key_hint(note) = key.hint AND created_at < key.ends AND tree_size < ${most}
            AND created_at >= newest.created_at - ${headSkewMaxMs} * interval '1 ms' OFFSET 0) AS near) AS largest
      JOIN checkpoints head ON head.tree_size = largest.tree_size
     ORDER BY head.tree_size DESC`;
  return HeadRows.parse(rows).map(checkpointOf);
}

const HeadRows = z.array(
  z.object({
    checkpoint_id: z.string(),
    tree_size: z.bigint(),
    root_hash: z.string(),
    record_count: z.bigint(),
    note: z.string(),
    previous_checkpoint_id: z.string().nullable(),
    created_at: z.date(),
  }),
);

export async function findCheckpoint(reader: Reader, id: string): Promise<Checkpoint | null> {
  const row = await reader.checkpoint.findUnique({ where: { checkpoint_id: id } });
  return row === null ? null : checkpointOf(row);
}

/** Heads with at most this many leaves that none of these keys signed, largest first. */
export async function listHeadsUpTo(
  reader: Reader,
  { size, without, limit }: { size: number; without: readonly string[]; limit: number },
): Promise<Checkpoint[]> {
  const rows = await reader.$queryRaw`
    SELECT checkpoint_id, tree_size, root_hash, record_count, note, previous_checkpoint_id, created_at FROM checkpoints
     WHERE tree_size <= ${size} AND note_key_hint(note) <> ALL (${[...without]}::text[])
     ORDER BY tree_size DESC LIMIT ${limit}`;
  return HeadRows.parse(rows).map(checkpointOf);
}

/** Heads with at least this many leaves that none of these keys signed, smallest first. */
export async function listHeadsFrom(
  reader: Reader,
  { size, without, limit }: { size: number; without: readonly string[]; limit: number },
): Promise<Checkpoint[]> {
  const rows = await reader.$queryRaw`
    SELECT checkpoint_id, tree_size, root_hash, record_count, note, previous_checkpoint_id, created_at FROM checkpoints
     WHERE tree_size >= ${size} AND note_key_hint(note) <> ALL (${[...without]}::text[])
     ORDER BY tree_size LIMIT ${limit}`;
  return HeadRows.parse(rows).map(checkpointOf);
}

/** Newest first. `beforeSize` is the tree size of the last one of the previous page. */
export async function listCheckpoints(
  reader: Reader,
  { limit, beforeSize }: { limit: number; beforeSize: number | null },
): Promise<Checkpoint[]> {
  const where = beforeSize === null ? {} : { tree_size: { lt: beforeSize } };
  return (await reader.checkpoint.findMany({ where, ...largestFirst, take: limit })).map(checkpointOf);
}

/** Checkpoints of trees larger than `size`, smallest first. */
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
