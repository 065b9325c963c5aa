import { equalBytes } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { hashBytes, assertTreeSize, nodeHash } from './merkle-tree.ts';
import type { CryptoProvider } from './provider.ts';

export interface InclusionClaim {
  index: number;
  size: number;
  leafHash: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
}

export interface ConsistencyClaim {
  from: number;
  to: number;
  fromRoot: Uint8Array;
  toRoot: Uint8Array;
  proof: readonly Uint8Array[];
}

/**
 * Verifies an attacker-controlled inclusion proof (RFC 9162 §2.1.3.2). Returns only if the leaf is proven. Throws
 * `INCLUSION_NOT_PROVEN`, or `TREE_SIZE_OUT_OF_RANGE` for numbers that are not tree sizes.
 */
export function verifyInclusion(provider: CryptoProvider, claim: InclusionClaim): void {
  const { index, size, leafHash, proof, root } = claim;
  assertTreeSize(index);
  assertTreeSize(size);
  if (index >= size) throw notIncluded('the leaf index is outside the tree');
  if (![leafHash, root, ...proof].every(isHash)) throw notIncluded('hash of wrong length');
  let position = { node: index, last: size - 1 };
  let hash = leafHash;
  for (const sibling of proof) {
    if (position.last === 0) throw notIncluded('proof too long');
    hash = isRightChild(position) ? nodeHash(provider, sibling, hash) : nodeHash(provider, hash, sibling);
    position = parent(position);
  }
  if (position.last !== 0) throw notIncluded('proof too short');
  if (!equalBytes(hash, root)) throw notIncluded('path does not lead to the root');
}

/**
 * Verifies an attacker-controlled proof that the tree of `to` leaves begins with the tree of `from` leaves (RFC 9162
 * §2.1.4.2). Returns only if proven. Throws `CONSISTENCY_NOT_PROVEN`, also when `from` is 0, because an empty tree
 * proves nothing. Throws `TREE_SIZE_OUT_OF_RANGE` for numbers that are not tree sizes.
 */
export function verifyConsistency(provider: CryptoProvider, claim: ConsistencyClaim): void {
  const { from, to, fromRoot, toRoot, proof } = claim;
  assertTreeSize(from);
  assertTreeSize(to);
  if (from === 0 || from > to) throw notConsistent('no consistency proof exists for these sizes');
  if (![fromRoot, toRoot, ...proof].every(isHash)) throw notConsistent('hash of wrong length');
  if (from === to) return assertSameTree(claim);
  if (proof.length === 0) throw notConsistent('proof too short');
  // Steps 2–5: the proof of a perfect old tree omits its first node. That node is the old root, which the verifier has.
  let position = skipRightEdge({ node: from - 1, last: to - 1 });
  const [first, ...rest] = position.node === 0 ? [fromRoot, ...proof] : proof;
  if (first === undefined) throw notConsistent('proof too short');
  let [oldHash, newHash] = [first, first];
  for (const sibling of rest) {
    if (position.last === 0) throw notConsistent('proof too long');
    if (isRightChild(position)) oldHash = nodeHash(provider, sibling, oldHash);
    newHash = isRightChild(position) ? nodeHash(provider, sibling, newHash) : nodeHash(provider, newHash, sibling);
    position = parent(position);
  }
  if (position.last !== 0) throw notConsistent('proof too short');
  if (!equalBytes(oldHash, fromRoot)) throw notConsistent('path does not lead to the old root');
  if (!equalBytes(newHash, toRoot)) throw notConsistent('path does not lead to the new root');
}

function assertSameTree({ fromRoot, toRoot, proof }: ConsistencyClaim): void {
  if (proof.length > 0) throw notConsistent('equal sizes need no proof');
  if (!equalBytes(fromRoot, toRoot)) throw notConsistent('equal sizes with different roots');
}

/**
 * `fn` and `sn` of the RFC: the current node and the last node of its level. The code uses arithmetic, because bit
 * operators have 32 bits and sizes can be larger.
 */
export interface Position {
  node: number;
  last: number;
}

// A last node without a right neighbour moves up unchanged until it is a right child.
export function isRightChild({ node, last }: Position): boolean {
  return node % 2 === 1 || node === last;
}

export function parent(position: Position): Position {
  let { node, last } = position;
  if (isRightChild(position)) {
    while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
  }
  return { node: Math.floor(node / 2), last: Math.floor(last / 2) };
}

function skipRightEdge(position: Position): Position {
  let { node, last } = position;
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  return { node, last };
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === hashBytes;
}

function notIncluded(message: string): CryptoError {
  return new CryptoError('INCLUSION_NOT_PROVEN', message);
}

function notConsistent(message: string): CryptoError {
  return new CryptoError('CONSISTENCY_NOT_PROVEN', message);
}
