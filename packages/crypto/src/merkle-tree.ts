import { concatBytes } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import type { CryptoProvider } from './provider.ts';

export const hashBytes = 32;
const leafPrefix = Uint8Array.of(0x00);
const nodePrefix = Uint8Array.of(0x01);
/** Room for one node. No provider keeps the bytes that it hashes. */
const nodeBytes = concatBytes(nodePrefix, new Uint8Array(2 * hashBytes));

/**
 * The right edge of a tree: the roots of its perfect subtrees, largest first, one for each set bit of `size`. Appending
 * needs nothing else, so a log of any size continues from at most 53 hashes.
 */
export interface Frontier {
  readonly size: number;
  readonly hashes: readonly Uint8Array[];
}

/** The root of the perfect subtree over leaves index·2^level … (index + 1)·2^level − 1. It never changes. */
export interface CompletedNode {
  level: number;
  index: number;
  hash: Uint8Array;
}

export const emptyFrontier: Frontier = { size: 0, hashes: [] };

/** RFC 9162 §2.1.1: SHA-256(0x00 ‖ entry). */
export function leafHash(provider: CryptoProvider, entry: Uint8Array): Uint8Array {
  return provider.sha256(concatBytes(leafPrefix, entry));
}

/** RFC 9162 §2.1.1: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(provider: CryptoProvider, left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== hashBytes || right.length !== hashBytes)
    return provider.sha256(concatBytes(nodePrefix, left, right));
  nodeBytes.set(left, nodePrefix.length);
  nodeBytes.set(right, nodePrefix.length + hashBytes);
  return provider.sha256(nodeBytes);
}

/** The root of a tree without leaves: SHA-256 of the empty string. */
export function emptyRoot(provider: CryptoProvider): Uint8Array {
  return provider.sha256(new Uint8Array());
}

/** The root over leaf hashes (not entries): see {@link leafHash}. */
export function rootOf(provider: CryptoProvider, leafHashes: Iterable<Uint8Array>): Uint8Array {
  let frontier = emptyFrontier;
  for (const leaf of leafHashes) frontier = appendLeaf(provider, frontier, leaf).frontier;
  return frontierRoot(provider, frontier);
}

/**
 * Adds one leaf hash. `completed` lists the subtrees that became perfect, beginning with the leaf itself (level 0). A
 * log stores them to serve proofs later. Throws `TREE_SIZE_OUT_OF_RANGE` when the frontier does not fit its size.
 */
export function appendLeaf(
  provider: CryptoProvider,
  frontier: Frontier,
  leaf: Uint8Array,
): { frontier: Frontier; completed: CompletedNode[] } {
  assertFrontier(frontier);
  const hashes = [...frontier.hashes];
  const completed: CompletedNode[] = [{ level: 0, index: frontier.size, hash: leaf }];
  let hash = leaf;
  let index = frontier.size;
  // Each trailing one bit of the size is a perfect left sibling of the node that was just completed.
  for (let left = hashes.at(-1); index % 2 === 1 && left !== undefined; left = hashes.at(-1)) {
    hashes.pop();
    hash = nodeHash(provider, left, hash);
    index = Math.floor(index / 2);
    completed.push({ level: completed.length, index, hash });
  }
  return { frontier: { size: frontier.size + 1, hashes: [...hashes, hash] }, completed };
}

/** The root of the tree with this frontier. */
export function frontierRoot(provider: CryptoProvider, frontier: Frontier): Uint8Array {
  assertFrontier(frontier);
  if (frontier.size === 0) return emptyRoot(provider);
  return frontier.hashes.reduceRight((right, left) => nodeHash(provider, left, right));
}

/** Sizes and indexes must be exact integers up to 2^53 − 1. Throws `TREE_SIZE_OUT_OF_RANGE`. */
export function assertTreeSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 0)
    throw new CryptoError('TREE_SIZE_OUT_OF_RANGE', `${size} is not a tree size`);
}

function assertFrontier({ size, hashes }: Frontier): void {
  assertTreeSize(size);
  let perfectSubtrees = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) perfectSubtrees += rest % 2;
  if (hashes.length !== perfectSubtrees)
    throw new CryptoError('TREE_SIZE_OUT_OF_RANGE', 'frontier does not fit its size');
}
