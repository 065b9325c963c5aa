import { Digest } from '@countersign/contracts';
import type { CryptoProvider, Frontier } from '@countersign/crypto';
import { grown } from '../ledger/log-tree.ts';
import type { Transaction, Tx } from './database.ts';

/** The leaves per transaction, which then takes some tens of milliseconds. */
const leavesPerStep = 4_096;

/**
 * Grows the Merkle tree up to the current log, and returns its head. It runs after the commits, so no decision waits
 * for it.
 */
export async function growLogTree(transaction: Transaction, provider: CryptoProvider): Promise<Frontier> {
  for (;;) {
    const { frontier, isComplete } = await transaction((tx) => growOnce(tx, provider));
    if (isComplete) return frontier;
  }
}

async function growOnce(tx: Tx, provider: CryptoProvider): Promise<{ frontier: Frontier; isComplete: boolean }> {
  const head = await lockTree(tx);
  const leaves = await tx.ledgerEntry.findMany({
    where: { log_index: { gte: head.size } },
    orderBy: { log_index: 'asc' },
    take: leavesPerStep,
    select: { log_index: true, receipt_hash: true },
  });
  if (leaves.some(({ log_index }, nth) => Number(log_index) !== head.size + nth))
    throw new Error('The ledger lacks entries of its own log');
  if (leaves.length === 0) return { frontier: head, isComplete: true };
  const hashes = leaves.map(({ receipt_hash }) => Digest.parse(receipt_hash));
  const { frontier, nodes } = grown(provider, head, hashes);
  await tx.logNode.createMany({
    data: nodes.map(({ level, index, hash }) => ({ level, index, hash: Uint8Array.from(hash) })),
  });
  await tx.logTree.update({
    where: { id: 1 },
    data: { size: frontier.size, frontier: frontier.hashes.map((hash) => Uint8Array.from(hash)) },
  });
  return { frontier, isComplete: leaves.length < leavesPerStep };
}

/** The lock serialises the growth by replicas. */
async function lockTree(tx: Tx): Promise<Frontier> {
  await tx.$executeRaw`SELECT FROM log_tree WHERE id = 1 FOR UPDATE`;
  const tree = await tx.logTree.findUnique({ where: { id: 1 } });
  if (tree === null) throw new Error('The log tree is missing; the migrations of the kernel were not applied');
  return { size: Number(tree.size), hashes: tree.frontier };
}
