import { createHash } from 'node:crypto';

/** Implements RFC 9162 literally, with its recursion, and shares no code with the product. It is slow but simple. */
const sha256 = (...pieces: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(pieces)).digest();
const leaf = (entry: Buffer): Buffer => sha256(Buffer.of(0), entry);
const node = (left: Buffer, right: Buffer): Buffer => sha256(Buffer.of(1), left, right);

/** The largest power of two smaller than n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** Section 2.1.1: MTH. */
export function treeHash(entries: Buffer[]): Buffer {
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return leaf(only);
  const k = split(entries.length);
  return node(treeHash(entries.slice(0, k)), treeHash(entries.slice(k)));
}

/** Section 2.1.3.1: PATH(m, D). */
export function path(m: number, entries: Buffer[]): Buffer[] {
  if (entries.length <= 1) return [];
  const k = split(entries.length);
  if (m < k) return [...path(m, entries.slice(0, k)), treeHash(entries.slice(k))];
  return [...path(m - k, entries.slice(k)), treeHash(entries.slice(0, k))];
}

/** Section 2.1.4.1: PROOF(m, D). */
export function proof(m: number, entries: Buffer[], isWhole = true): Buffer[] {
  if (m === entries.length) return isWhole ? [] : [treeHash(entries)];
  const k = split(entries.length);
  if (m <= k) return [...proof(m, entries.slice(0, k), isWhole), treeHash(entries.slice(k))];
  return [...proof(m - k, entries.slice(k), false), treeHash(entries.slice(0, k))];
}

/** Section 2.1.3.2: the root that an inclusion proof yields. `null` when the proof has the wrong length. */
export function rootFromInclusion(
  entry: Buffer,
  place: { index: number; size: number },
  hashes: Buffer[],
): Buffer | null {
  let [fn, sn] = [place.index, place.size - 1];
  let r = leaf(entry);
  for (const p of hashes) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      r = node(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else r = node(r, p);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 ? r : null;
}

/** Section 2.1.4.2: the two roots that a consistency proof yields. `null` when the proof has the wrong length. */
export function rootsFromConsistency(
  sizes: { first: number; second: number },
  firstHash: Buffer,
  hashes: Buffer[],
): [Buffer, Buffer] | null {
  const { first, second } = sizes;
  if (first === second) return hashes.length === 0 ? [firstHash, firstHash] : null;
  const whole = Number.isInteger(Math.log2(first)) ? [firstHash, ...hashes] : hashes;
  let [fn, sn] = [first - 1, second - 1];
  while (fn % 2 === 1) [fn, sn] = [fn >> 1, sn >> 1];
  const [start, ...rest] = whole;
  if (start === undefined) return null;
  let [fr, sr] = [start, start];
  for (const c of rest) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [node(c, fr), node(c, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else sr = node(sr, c);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 ? [fr, sr] : null;
}
