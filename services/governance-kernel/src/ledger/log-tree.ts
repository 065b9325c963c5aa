import type { Digest } from '@countersign/contracts';
import { appendLeaf, type CompletedNode, type CryptoProvider, type Frontier } from '@countersign/crypto';
import { receiptLeaf } from '@countersign/receipts';

/** Subtrees below this level are recomputed from the ledger, since storing them would cost a row per receipt. */
export const storedLevelMin = 8;

/** The tree after these receipts (RFC 9162), and the roots of full subtrees that are stored. */
export function grown(
  provider: CryptoProvider,
  from: Frontier,
  receiptHashes: readonly Digest[],
): { frontier: Frontier; nodes: CompletedNode[] } {
  const nodes: CompletedNode[] = [];
  let frontier = from;
  for (const hash of receiptHashes) {
    const appended = appendLeaf(provider, frontier, receiptLeaf(provider, hash));
    frontier = appended.frontier;
    nodes.push(...appended.completed.filter(({ level }) => level >= storedLevelMin));
  }
  return { frontier, nodes };
}
