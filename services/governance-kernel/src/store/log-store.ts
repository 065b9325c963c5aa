import { Digest } from '@countersign/contracts';
import { z } from 'zod';
import type { Reader } from './database.ts';
import { WholeNumber } from './whole-number.ts';

/** The size of the log, and the part that a signed checkpoint covers. */
export type LogReach = { size: number; checkpointed: number };

const Reach = z.tuple([z.object({ size: WholeNumber, checkpointed: WholeNumber })]);

/**
 * Read in one statement, and so from one snapshot: a checkpoint is never reported before the entries that it covers.
 */
export async function getLogReach(reader: Reader): Promise<LogReach> {
  const rows = await reader.$queryRaw`
    SELECT size, coalesce((SELECT max(tree_size) FROM checkpoints), 0) AS checkpointed FROM log_head WHERE id = 1`;
  const [reach] = Reach.parse(rows);
  return reach;
}

export type NodeKey = { level: number; index: number };
export type LogNode = NodeKey & { hash: Uint8Array };

const Nodes = z.array(z.object({ level: z.int(), index: WholeNumber, hash: z.instanceof(Uint8Array) }));

/** Stored subtree roots. Keys without a row are omitted. */
export async function listLogNodes(reader: Reader, keys: readonly NodeKey[]): Promise<LogNode[]> {
  const [levels, indexes] = [keys.map(({ level }) => level), keys.map(({ index }) => index)];
  const rows = await reader.$queryRaw`
    SELECT level, index, n.hash FROM unnest(${levels}::int[], ${indexes}::bigint[]) AS wanted(level, index)
      JOIN log_nodes n USING (level, index)`;
  return Nodes.parse(rows);
}

export type LogLeaf = { index: number; receiptHash: Digest };

const Leaves = z.array(z.object({ log_index: WholeNumber, receipt_hash: Digest }));

/**
 * Receipt hashes of runs of `width` leaves. `starts` contains the index of the first leaf of each run. The hashes cover
 * all tenants of the log, and reveal nothing.
 */
export async function listLogLeaves(reader: Reader, starts: readonly number[], width: number): Promise<LogLeaf[]> {
  const rows = await reader.$queryRaw`
    SELECT l.log_index, l.receipt_hash FROM unnest(${starts}::bigint[]) AS run(start)
      JOIN ledger l ON l.log_index >= run.start AND l.log_index < run.start + ${width} ORDER BY l.log_index`;
  return Leaves.parse(rows).map(({ log_index, receipt_hash }) => ({ index: log_index, receiptHash: receipt_hash }));
}
