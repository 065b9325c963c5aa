import { CryptoError } from './crypto-error.ts';
import { assertTreeSize, nodeHash } from './merkle-tree.ts';
import type { CryptoProvider } from './provider.ts';

/** Reads the root of a perfect subtree, as {@link appendLeaf} completed it, from a table, a tile or a cache. */
export type NodeReader = (level: number, index: number) => Promise<Uint8Array>;

/** Leaves start … end − 1. */
interface LeafRange {
  start: number;
  end: number;
}

/**
 * RFC 9162 §2.1.3.1 for any size up to the current one. It reads O(log size) nodes. Throws `TREE_SIZE_OUT_OF_RANGE`
 * unless both numbers are tree sizes and index < size.
 */
export async function inclusionProof(
  provider: CryptoProvider,
  readNode: NodeReader,
  { index, size }: { index: number; size: number },
): Promise<Uint8Array[]> {
  assertTreeSize(size);
  assertTreeSize(index);
  if (index >= size) throw new CryptoError('TREE_SIZE_OUT_OF_RANGE', `no leaf ${index} in a tree of ${size}`);
  const siblings: LeafRange[] = [];
  let { start, end }: LeafRange = { start: 0, end: size };
  while (end - start > 1) {
    const middle = start + largestPowerOfTwoBelow(end - start);
    siblings.push(index < middle ? { start: middle, end } : { start, end: middle });
    [start, end] = index < middle ? [start, middle] : [middle, end];
  }
  return hashesOf(provider, readNode, siblings.reverse());
}

/**
 * RFC 9162 §2.1.4.1; empty for equal sizes. Throws `TREE_SIZE_OUT_OF_RANGE` unless both numbers are tree sizes and 0 <
 * from ≤ to.
 */
export async function consistencyProof(
  provider: CryptoProvider,
  readNode: NodeReader,
  { from, to }: { from: number; to: number },
): Promise<Uint8Array[]> {
  assertTreeSize(to);
  assertTreeSize(from);
  if (from === 0 || from > to)
    throw new CryptoError('TREE_SIZE_OUT_OF_RANGE', `no consistency proof from ${from} to ${to}`);
  const ranges: LeafRange[] = [];
  let { start, end }: LeafRange = { start: 0, end: to };
  while (from !== end) {
    const middle = start + largestPowerOfTwoBelow(end - start);
    ranges.push(from <= middle ? { start: middle, end } : { start, end: middle });
    [start, end] = from <= middle ? [start, middle] : [middle, end];
  }
  // A last range that starts at 0 has the old root as its hash, which the verifier knows. Any other last range belongs
  // to the proof.
  if (start > 0) ranges.push({ start, end });
  return hashesOf(provider, readNode, ranges.reverse());
}

async function hashesOf(provider: CryptoProvider, readNode: NodeReader, ranges: LeafRange[]): Promise<Uint8Array[]> {
  return Promise.all(ranges.map(async (range) => await rangeHash(provider, readNode, range)));
}

async function rangeHash(
  provider: CryptoProvider,
  readNode: NodeReader,
  { start, end }: LeafRange,
): Promise<Uint8Array> {
  const length = end - start;
  if (length === 1) return readNode(0, start);
  const leftLength = largestPowerOfTwoBelow(length);
  // Splits at powers of two align every perfect range to its own length, so its root is a stored node.
  if (leftLength * 2 === length) return readNode(Math.log2(length), start / length);
  const middle = start + leftLength;
  const [left, right] = await Promise.all([
    rangeHash(provider, readNode, { start, end: middle }),
    rangeHash(provider, readNode, { start: middle, end }),
  ]);
  return nodeHash(provider, left, right);
}

function largestPowerOfTwoBelow(length: number): number {
  let power = 1;
  while (power * 2 < length) power *= 2;
  return power;
}
