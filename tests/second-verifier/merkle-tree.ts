import { sha256 } from './forms.ts';

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);
const nodeOf = (left: Buffer, right: Buffer) => sha256(nodePrefix, left, right);

/** The hash of an entry (RFC 9162 §2.1.1). */
export function leafOf(entry: Buffer): Buffer {
  return sha256(leafPrefix, entry);
}

/** The root over the entries (RFC 9162 §2.1.1). */
export function rootOf(entries: Buffer[]): Buffer {
  const [first] = entries;
  if (first === undefined) return sha256('');
  if (entries.length === 1) return leafOf(first);
  let split = 1;
  while (split * 2 < entries.length) split *= 2;
  return nodeOf(rootOf(entries.slice(0, split)), rootOf(entries.slice(split)));
}

/** The root that a path leads to from a leaf (RFC 9162 §2.1.3.2), or `null`. */
export function rootFromLeaf(
  leaf: Buffer,
  path: Buffer[],
  { index, size }: { index: number; size: number },
): Buffer | null {
  if (index >= size) return null;
  let at = BigInt(index);
  let last = BigInt(size) - 1n;
  let root = leaf;
  for (const sibling of path) {
    if (last === 0n) return null;
    if (isOdd(at) || at === last) {
      root = nodeOf(sibling, root);
      while (!isOdd(at) && at !== 0n) [at, last] = [at >> 1n, last >> 1n];
    } else root = nodeOf(root, sibling);
    [at, last] = [at >> 1n, last >> 1n];
  }
  return last === 0n ? root : null;
}

type Tree = { size: number; root: Buffer };

/** Whether the path proves that one tree extends the other (RFC 9162 §2.1.4.2). */
export function isExtension(earlier: Tree, later: Tree, path: Buffer[]): boolean {
  if (earlier.size === 0) return path.length === 0 && earlier.root.equals(sha256(''));
  if (earlier.size === later.size) return path.length === 0 && earlier.root.equals(later.root);
  if (earlier.size > later.size || path.length === 0) return false;
  let at = BigInt(earlier.size) - 1n;
  let last = BigInt(later.size) - 1n;
  while (isOdd(at)) [at, last] = [at >> 1n, last >> 1n];
  const [first, ...rest] = at === 0n ? [earlier.root, ...path] : path;
  if (first === undefined) return false;
  let [earlierRoot, laterRoot] = [first, first];
  for (const sibling of rest) {
    if (last === 0n) return false;
    if (isOdd(at) || at === last) {
      [earlierRoot, laterRoot] = [nodeOf(sibling, earlierRoot), nodeOf(sibling, laterRoot)];
      while (!isOdd(at) && at !== 0n) [at, last] = [at >> 1n, last >> 1n];
    } else laterRoot = nodeOf(laterRoot, sibling);
    [at, last] = [at >> 1n, last >> 1n];
  }
  return last === 0n && earlierRoot.equals(earlier.root) && laterRoot.equals(later.root);
}

function isOdd(value: bigint): boolean {
  return (value & 1n) === 1n;
}
