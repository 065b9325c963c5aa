import { createHash } from 'node:crypto';

// RFC 9162 §2.1.1, §2.1.3.1 and §2.1.4.1 as the text defines them, by recursion over all entries. These functions are
// slow and share no code with src.

export function naiveRoot(entries: Uint8Array[]): Uint8Array {
  const [only] = entries;
  if (only === undefined) return hash();
  if (entries.length === 1) return hash(Uint8Array.of(0), only);
  const [left, right] = split(entries);
  return hash(Uint8Array.of(1), naiveRoot(left), naiveRoot(right));
}

/** PATH(m, D_n) */
export function naiveInclusion(index: number, entries: Uint8Array[]): Uint8Array[] {
  if (entries.length === 1) return [];
  const [left, right] = split(entries);
  if (index < left.length) return [...naiveInclusion(index, left), naiveRoot(right)];
  return [...naiveInclusion(index - left.length, right), naiveRoot(left)];
}

/** PROOF(m, D_n) */
export function naiveConsistency(from: number, entries: Uint8Array[]): Uint8Array[] {
  return subproof(from, entries, true);
}

function subproof(from: number, entries: Uint8Array[], isWhole: boolean): Uint8Array[] {
  if (from === entries.length) return isWhole ? [] : [naiveRoot(entries)];
  const [left, right] = split(entries);
  if (from <= left.length) return [...subproof(from, left, isWhole), naiveRoot(right)];
  return [...subproof(from - left.length, right, false), naiveRoot(left)];
}

function split(entries: Uint8Array[]): [Uint8Array[], Uint8Array[]] {
  const middle = 2 ** Math.ceil(Math.log2(entries.length) - 1);
  return [entries.slice(0, middle), entries.slice(middle)];
}

const memo = new Map<string, Uint8Array>();

function hash(...pieces: Uint8Array[]): Uint8Array {
  const input = Buffer.concat(pieces);
  const key = input.toString('base64');
  const digest = memo.get(key) ?? Uint8Array.from(createHash('sha256').update(input).digest());
  memo.set(key, digest);
  return digest;
}
