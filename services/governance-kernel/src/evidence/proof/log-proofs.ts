import {
  consistencyProof,
  emptyRoot,
  encodeBase64,
  inclusionProof,
  nodeHash,
  type CryptoProvider,
  type NodeReader,
} from '@countersign/crypto';

/** Base64 of the path from a leaf to the root of a tree of `size` leaves (RFC 9162, section 2.1.3). */
export async function provenIncluded(
  provider: CryptoProvider,
  reader: NodeReader,
  place: { index: number; size: number },
): Promise<string[]> {
  return (await inclusionProof(provider, reader, place)).map(encodeBase64);
}

/** Base64 of the proof that the tree of `to` leaves extends the tree of `from` leaves (RFC 9162, section 2.1.4). */
export async function provenConsistent(
  provider: CryptoProvider,
  reader: NodeReader,
  sizes: { from: number; to: number },
): Promise<string[]> {
  return (await consistencyProof(provider, reader, sizes)).map(encodeBase64);
}

/** The root over the first `size` leaves, from perfect subtrees: largest first, one per set bit of the size. */
export async function rootOfLog(provider: CryptoProvider, reader: NodeReader, size: number): Promise<Uint8Array> {
  if (size === 0) return emptyRoot(provider);
  const subtrees: Promise<Uint8Array>[] = [];
  let start = 0;
  for (let level = Math.floor(Math.log2(size)); level >= 0; level -= 1) {
    const width = 2 ** level;
    if (size - start < width) continue;
    subtrees.push(reader(level, start / width));
    start += width;
  }
  return (await Promise.all(subtrees)).reduceRight((right, left) => nodeHash(provider, left, right));
}
