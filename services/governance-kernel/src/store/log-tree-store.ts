import { inTransaction } from '@countersign/database';
import type { Digest } from '@countersign/contracts';
import type { CryptoProvider, Frontier } from '@countersign/crypto';
import type pg from 'pg';
import { grown } from '../ledger/log-tree.ts';

/** One transaction stays in the low tens of milliseconds. */
const leavesPerStep = 4_096;

/** Grows the Merkle tree up to the log as it is now, and returns its head. Behind the commits: no decision waits for it. */
export async function growLogTree(pool: pg.Pool, provider: CryptoProvider): Promise<Frontier> {
  for (;;) {
    const { frontier, isComplete } = await inTransaction(pool, (client) => growOnce(client, provider));
    if (isComplete) return frontier;
  }
}

async function growOnce(
  client: pg.PoolClient,
  provider: CryptoProvider,
): Promise<{ frontier: Frontier; isComplete: boolean }> {
  const head = await lockTree(client);
  const { rows } = await client.query<{ log_index: string; receipt_hash: Digest }>(
    'SELECT log_index, receipt_hash FROM ledger WHERE log_index >= $1 ORDER BY log_index LIMIT $2',
    [head.size, leavesPerStep],
  );
  if (rows.some(({ log_index }, nth) => Number(log_index) !== head.size + nth))
    throw new Error('The ledger lacks entries of its own log');
  if (rows.length === 0) return { frontier: head, isComplete: true };
  const { frontier, nodes } = grown(
    provider,
    head,
    rows.map(({ receipt_hash }) => receipt_hash),
  );
  await client.query(
    'INSERT INTO log_nodes (level, index, hash) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])',
    [nodes.map(({ level }) => level), nodes.map(({ index }) => index), nodes.map(({ hash }) => Buffer.from(hash))],
  );
  await client.query('UPDATE log_tree SET size = $1, frontier = $2 WHERE id = 1', [
    frontier.size,
    frontier.hashes.map((hash) => Buffer.from(hash)),
  ]);
  return { frontier, isComplete: rows.length < leavesPerStep };
}

/** The lock makes replicas grow the tree one after the other. */
async function lockTree(client: pg.PoolClient): Promise<Frontier> {
  const { rows } = await client.query<{ size: string; frontier: Buffer[] }>(
    'SELECT size, frontier FROM log_tree WHERE id = 1 FOR UPDATE',
  );
  const [tree] = rows;
  if (tree === undefined) throw new Error('The log tree is missing; the migrations of the kernel were not applied');
  return { size: Number(tree.size), hashes: tree.frontier.map((hash) => new Uint8Array(hash)) };
}
